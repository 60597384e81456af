// Parameters and outputs of the actions on Slack messages.

import { z } from 'zod';

/** `C…`, or `D…` and `G…` for conversations. */
export const channelId = z.string().min(1).max(200);
/** Slack's own limit of characters. */
export const messageText = z.string().min(1).max(40_000);
/** A message is identified by its channel and this: "1712345678.000100". */
export const timestamp = z.string().regex(/^\d+\.\d+$/, 'expected the ts of a message, such as "1712345678.000100"');
/** Block Kit; the message is then the text of notifications. */
export const blocks = z.array(z.looseObject({ type: z.string() })).max(50);

export const posted = z.object({ ts: z.string(), channel: z.string() });
export type PostedMessage = z.output<typeof posted>;
