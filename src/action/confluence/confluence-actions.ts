// The actions of the connector `confluence`, and the connector itself.

import type { ActionDefinition } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
import type { ConfluenceOptions } from './client.ts';
import { createPage } from './create-page.ts';
import { getPage } from './get-page.ts';
import { updatePage } from './update-page.ts';

export function confluenceActions(options: ConfluenceOptions = {}): readonly ActionDefinition[] {
  return [createPage(options), updatePage(options), getPage(options)];
}

export const confluenceConnector: ConnectorDefinition = {
  id: 'confluence',
  displayName: 'Confluence',
  description: 'Creates, updates and reads pages.',
  version: '1.0.0',
  authType: 'Bearer',
};
