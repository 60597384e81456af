// slack.post-message: writes to a channel. A retry first looks for the message of an earlier attempt, which carries the
// idempotency key in its metadata (I7); `client_msg_id` tells Slack the same.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isTerminalError } from '../../core/error/error.ts';
import { type ActionContext, type ActionDefinition, type ActionResult, defineAction } from '../action.ts';
import { REMOTE_CODES, readAnswer } from '../remote-failure.ts';
import { type CallSlack, connectSlack, type SlackOptions } from './client.ts';
import { blocks, channelId, messageText, type PostedMessage, posted, timestamp } from './message.ts';

const params = z.strictObject({
  channelId,
  message: messageText,
  /** The ts of the message whose thread to answer. */
  threadTs: timestamp.optional(),
  blocks: blocks.optional(),
});

export function postMessage(options: SlackOptions): ActionDefinition {
  return defineAction({
    type: 'slack.post-message',
    version: '1.0.0',
    connector: 'slack',
    codes: REMOTE_CODES,
    category: 'Communication',
    displayName: 'Post a message',
    description: 'Posts a message to a channel, a conversation or a thread.',
    tags: ['slack', 'chat', 'notification'],
    params,
    outputs: posted.extend({ permalink: z.string().optional() }),
    async run(message, context) {
      const slack = await connectSlack(options, context);
      const found = context.mayHaveRun ? await earlierMessage(slack, message, context) : null;
      return await result(slack, found ?? (await post(slack, message, context)), context);
    },
  });
}

const EVENT_TYPE = 'pawl_message';

async function post(slack: CallSlack, message: z.output<typeof params>, context: ActionContext) {
  const { idempotencyKey } = context;
  const answer = await slack('chat.postMessage', {
    channel: message.channelId,
    text: message.message,
    thread_ts: message.threadTs,
    blocks: message.blocks,
    client_msg_id: uuidFrom(idempotencyKey),
    metadata: { event_type: EVENT_TYPE, event_payload: { idempotency_key: idempotencyKey } },
  });
  return readAnswer('Slack', posted, answer);
}

/** Slack compares these as UUIDs. */
function uuidFrom(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

const history = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      metadata: z.object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) }).optional(),
    }),
  ),
});

const LOOK_BACK_MESSAGES = 100;

/** A token that may post but not read cannot check for duplicates. The message may then be posted twice, and the log says so. */
async function earlierMessage(
  slack: CallSlack,
  { channelId: channel, threadTs }: z.output<typeof params>,
  { idempotencyKey, log }: ActionContext,
): Promise<PostedMessage | null> {
  const method = threadTs === undefined ? 'conversations.history' : 'conversations.replies';
  try {
    const answer = await slack(method, {
      channel,
      ts: threadTs,
      include_all_metadata: true,
      limit: LOOK_BACK_MESSAGES,
    });
    const { messages } = readAnswer('Slack', history, answer);
    const found = messages.find(
      ({ metadata }) =>
        metadata?.event_type === EVENT_TYPE && metadata.event_payload.idempotency_key === idempotencyKey,
    );
    return found === undefined ? null : { channel, ts: found.ts };
  } catch (thrown) {
    if (!isTerminalError(thrown)) throw thrown;
    log.warn(`It cannot be told whether an earlier attempt posted the message: ${thrown.message}`);
    return null;
  }
}

const permalinkAnswer = z.object({ permalink: z.string() });

/** The message was posted, so a failure to get its link is ignored. */
async function result(
  slack: CallSlack,
  message: PostedMessage,
  { log }: ActionContext,
): Promise<ActionResult<PostedMessage & { permalink?: string }>> {
  const { channel, ts } = message;
  const link = { system: 'slack', resourceType: 'message', resourceId: `${channel}:${ts}` };
  try {
    const { permalink } = readAnswer(
      'Slack',
      permalinkAnswer,
      await slack('chat.getPermalink', { channel, message_ts: ts }),
    );
    return { outputs: { channel, ts, permalink }, resourceLinks: [{ ...link, url: permalink }] };
  } catch (thrown) {
    log.warn(`The message is posted, but its link is not known: ${thrown instanceof Error ? thrown.message : 'error'}`);
    return { outputs: { channel, ts }, resourceLinks: [link] };
  }
}
