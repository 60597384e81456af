// slack.update-message: replaces an earlier message. Idempotent.

import { z } from 'zod';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES, readAnswer } from '../remote-failure.ts';
import { connectSlack, type SlackOptions } from './client.ts';
import { blocks, channelId, messageText, posted, timestamp } from './message.ts';

export function updateMessage(options: SlackOptions): ActionDefinition {
  return defineAction({
    type: 'slack.update-message',
    version: '1.0.0',
    connector: 'slack',
    codes: REMOTE_CODES,
    category: 'Communication',
    displayName: 'Update a message',
    description: 'Replaces the text and the blocks of a message.',
    tags: ['slack', 'chat'],
    params: z.strictObject({ channelId, ts: timestamp, message: messageText, blocks: blocks.optional() }),
    outputs: posted,
    async run({ channelId: channel, ts, message: text, blocks: newBlocks }, context) {
      const slack = await connectSlack(options, context);
      const answer = await slack('chat.update', { channel, ts, text, blocks: newBlocks });
      return { outputs: readAnswer('Slack', posted, answer) };
    },
  });
}
