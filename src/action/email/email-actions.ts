// The action of the connector `email`, and the connector itself.

import { z } from 'zod';
import type { ActionDefinition } from '../action.ts';
import { type ConnectorDefinition, secret } from '../connector.ts';
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
  documentationUrl: 'https://www.rfc-editor.org/rfc/rfc5321',
  config: z.strictObject({
    CONNECTOR_EMAIL_TOKEN: secret('password of the user in the URL; a server without a login needs none').optional(),
    PAWL_CONNECTORS_EMAIL_SMTP_URL: z.string().describe('smtp://user@mail.example.com:587'),
    PAWL_CONNECTORS_EMAIL_FROM: z.string().optional().describe('sender of messages that name none'),
  }),
};
