// The action of the connector `email`, and the connector itself.

import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
import { sendEmail } from './send.ts';
import type { EmailOptions } from './server.ts';

export function emailActions(options: EmailOptions = {}): readonly ActionDefinition[] {
  return [sendEmail(options)];
}

export const emailConnector: ConnectorDefinition = {
  id: 'email',
  displayName: 'E-mail',
  description: 'Sends e-mail over SMTP.',
  version: '1.0.0',
  authType: 'Basic',
};
