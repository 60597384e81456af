// The actions of the connector `monday`, and the connector itself.

import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
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
};
