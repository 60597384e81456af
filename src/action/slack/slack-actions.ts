// The actions of the connector `slack`, and the connector itself.

import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
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
};
