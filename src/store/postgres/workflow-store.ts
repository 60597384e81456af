// Workflows as the engine needs them: what is published, and the catalog of what is registered. Their life before and after
// that is in workflow-life-store.ts.

import type { ActionRow, ConnectorRow } from '../catalog-port.ts';
import type { DefinitionRow, WorkflowRow, WorkflowStore } from '../port.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { publishAtOnce } from './workflow-life-store.ts';

const GET = statement('workflow_get');
const GET_DEFINITION = statement('definition_get');
const UPSERT_CONNECTORS = statement('connector_upsert');
const UPSERT_ACTIONS = statement('action_upsert');

export function workflowStore(database: Database): WorkflowStore {
  return {
    workflowPublish: publishAtOnce(database),
    async workflowGet({ tenantId, workflowId }) {
      const [row] = await database.run<WorkflowRecord>(GET, [tenantId, workflowId]);
      if (row === undefined) return null;
      return {
        workflowId: row.workflow_id,
        displayName: row.display_name,
        format: row.format,
        status: row.status,
        isEnabled: row.is_enabled,
        currentVersion: row.current_version,
      };
    },
    async definitionGet({ tenantId, workflowId, version }) {
      const [row] = await database.run<DefinitionRow>(GET_DEFINITION, [tenantId, workflowId, version]);
      return row ?? null;
    },
    catalogUpsert: ({ connectors, actions }) =>
      database.transaction(async (session) => {
        await session.run(UPSERT_CONNECTORS, [JSON.stringify(connectors.map(connectorRecord))]);
        await session.run(UPSERT_ACTIONS, [JSON.stringify(actions.map(actionRecord))]);
      }),
  };
}

const connectorRecord = (row: ConnectorRow) => ({
  id: row.id,
  display_name: row.displayName,
  description: row.description,
  icon_url: row.iconUrl,
  documentation_url: row.documentationUrl,
  config_schema: row.configSchema,
  requires_auth: row.requiresAuth,
  auth_type: row.authType,
  version: row.version,
  capabilities: row.capabilities,
});

const actionRecord = (row: ActionRow) => ({
  id: row.id,
  display_name: row.displayName,
  description: row.description,
  category: row.category,
  connector_id: row.connectorId,
  parameter_schema: row.parameterSchema,
  output_schema: row.outputSchema,
  version: row.version,
  deprecation_notice: row.deprecationNotice,
  tags: row.tags,
});

interface WorkflowRecord {
  workflow_id: string;
  display_name: string;
  format: string;
  status: WorkflowRow['status'];
  is_enabled: boolean;
  current_version: number | null;
}
