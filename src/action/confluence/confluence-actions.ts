// The actions of the connector `confluence`, and the connector itself.

import { z } from 'zod';
import type { ActionDefinition } from '../action.ts';
import { type ConnectorDefinition, secret } from '../connector.ts';
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
  documentationUrl: 'https://developer.atlassian.com/cloud/confluence/rest/v2/',
  config: z.strictObject({
    CONNECTOR_CONFLUENCE_TOKEN: secret(
      'personal access token or OAuth token; for an API token of Cloud, address:token',
    ),
    PAWL_CONNECTORS_CONFLUENCE_BASE_URL: z.url().describe('where it is: https://example.atlassian.net/wiki'),
    PAWL_CONNECTORS_CONFLUENCE_EDITION: z.enum(['cloud', 'data-center']).optional(),
  }),
};
