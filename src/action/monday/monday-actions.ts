// The actions of the connector `monday`, and the connector itself.

import { z } from 'zod';
import type { ActionDefinition } from '../action.ts';
import { type ConnectorDefinition, secret } from '../connector.ts';
import type { MondayOptions } from './client.ts';
import { createItem } from './create-item.ts';
import { getItem } from './get-item.ts';
import { getItems } from './get-items.ts';
import { updateItem } from './update-item.ts';

export function mondayActions(options: MondayOptions = {}): readonly ActionDefinition[] {
  return [getItems(options), getItem(options), createItem(options), updateItem(options)];
}

export const mondayConnector: ConnectorDefinition = {
  id: 'monday',
  displayName: 'Monday',
  description: 'Reads, creates and updates items of boards.',
  version: '1.0.0',
  authType: 'ApiKey',
  documentationUrl: 'https://developer.monday.com/api-reference/',
  config: z.strictObject({
    CONNECTOR_MONDAY_TOKEN: secret('API token of a user who may see the boards'),
    PAWL_CONNECTORS_MONDAY_BASE_URL: z.url().optional().describe('by default https://api.monday.com/v2'),
  }),
};
