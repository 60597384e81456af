// The actions of the connector `slack`, and the connector itself.

import { z } from 'zod';
import type { ActionDefinition } from '../action.ts';
import { type ConnectorDefinition, secret } from '../connector.ts';
import type { SlackOptions } from './client.ts';
import { postMessage } from './post-message.ts';
import { updateMessage } from './update-message.ts';

export function slackActions(options: SlackOptions = {}): readonly ActionDefinition[] {
  return [postMessage(options), updateMessage(options)];
}

export const slackConnector: ConnectorDefinition = {
  id: 'slack',
  displayName: 'Slack',
  description: 'Posts and updates messages.',
  version: '1.0.0',
  authType: 'Bearer',
  documentationUrl: 'https://docs.slack.dev/apis/web-api/',
  config: z.strictObject({
    CONNECTOR_SLACK_TOKEN: secret('bot token of the app (xoxb-…)'),
    PAWL_CONNECTORS_SLACK_BASE_URL: z.url().optional().describe('by default https://slack.com/api/'),
  }),
};
