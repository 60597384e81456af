// The catalog: reading it, and what an operator changes in it.

import type { ActionEntry, ActionNotice, CatalogStore, ConnectorEntry } from '../catalog-port.ts';
import type { JsonText, Timestamp } from '../port.ts';
import type { Database } from './database.ts';
import { patternOf } from './like-pattern.ts';
import { statement } from './statement.ts';

const LIST_CONNECTORS = statement('connector_list');
const UPDATE_CONNECTOR = statement('connector_update');
const LIST_ACTIONS = statement('action_list');
const NOTICED = statement('actions_noticed');
const UPDATE_ACTION = statement('action_update');

export function catalogStore(database: Database): CatalogStore {
  return {
    connectorList: async () => (await database.run<ConnectorRecord>(LIST_CONNECTORS, [null])).map(connectorEntry),
    async connectorGet({ id }) {
      const [row] = await database.run<ConnectorRecord>(LIST_CONNECTORS, [id]);
      return row === undefined ? null : connectorEntry(row);
    },
    async actionList({ connectorId, category, search }) {
      const values = [connectorId ?? null, category ?? null, patternOf(search), null];
      return (await database.run<ActionRecord>(LIST_ACTIONS, values)).map(actionEntry);
    },
    actionsNoticed: () => database.run<ActionNotice>(NOTICED, []),
    async actionGet({ id }) {
      const [row] = await database.run<ActionRecord>(LIST_ACTIONS, [null, null, null, id]);
      return row === undefined ? null : actionEntry(row);
    },
    connectorUpdate: async ({ id, isEnabled }) =>
      (await database.run(UPDATE_CONNECTOR, [id, isEnabled ?? null])).length > 0,
    async actionUpdate({ id, isEnabled, deprecationNotice }) {
      const changesNotice = deprecationNotice !== undefined;
      const values = [id, isEnabled ?? null, changesNotice, deprecationNotice ?? null];
      return (await database.run(UPDATE_ACTION, values)).length > 0;
    },
  };
}

const connectorEntry = (row: ConnectorRecord): ConnectorEntry => ({
  id: row.id,
  displayName: row.display_name,
  description: row.description,
  iconUrl: row.icon_url,
  documentationUrl: row.documentation_url,
  configSchema: row.config_schema,
  isEnabled: row.is_enabled,
  requiresAuth: row.requires_auth,
  authType: row.auth_type,
  version: row.version,
  capabilities: row.capabilities,
  createdAt: row.created_at,
});

const actionEntry = (row: ActionRecord): ActionEntry => ({
  id: row.id,
  displayName: row.display_name,
  description: row.description,
  category: row.category,
  connectorId: row.connector_id,
  parameterSchema: row.parameter_schema,
  outputSchema: row.output_schema,
  isEnabled: row.is_enabled,
  version: row.version,
  deprecationNotice: row.deprecation_notice,
  tags: row.tags,
  createdAt: row.created_at,
});

interface ConnectorRecord {
  id: string;
  display_name: string;
  description: string;
  icon_url: string | null;
  documentation_url: string | null;
  config_schema: JsonText | null;
  is_enabled: boolean;
  requires_auth: boolean;
  auth_type: string | null;
  version: string;
  capabilities: string[];
  created_at: Timestamp;
}

interface ActionRecord {
  id: string;
  display_name: string;
  description: string;
  category: string;
  connector_id: string;
  parameter_schema: JsonText;
  output_schema: JsonText;
  is_enabled: boolean;
  version: string;
  deprecation_notice: string | null;
  tags: string[];
  created_at: Timestamp;
}
