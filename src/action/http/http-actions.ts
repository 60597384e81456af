// The actions of the connector `http`, and the connector itself.

import { z } from 'zod';
import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
import { httpRequest } from './request.ts';
import { httpStep } from './step.ts';

export const httpActions: readonly ActionDefinition[] = [httpRequest, httpStep];

export const httpConnector: ConnectorDefinition = {
  id: 'http',
  displayName: 'HTTP',
  description: 'Calls any HTTP API.',
  version: '1.0.0',
  documentationUrl: 'https://www.rfc-editor.org/rfc/rfc9110',
  config: z.strictObject({}),
};
