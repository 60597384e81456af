// Workflows as the engine needs them: what is published, and the catalog of what is registered. Their life before and after
// that is in workflow-life-store.ts.

import type { ActionRow, ConnectorRow } from '../../catalog-port.ts';
import type { DefinitionRow, WorkflowRow, WorkflowStore } from '../../port.ts';
import { snakeCase } from '../column-list.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';
import { publishAtOnce } from './workflow-life-store.ts';

const GET = statement('workflow_get');
const GET_DEFINITION = statement('definition_get');
const GET_DRIVER = statement('definition_driver');
const UPSERT_CONNECTORS = statement('connector_upsert');
const UPSERT_ACTIONS = statement('action_upsert');

export function workflowStore(database: Database): WorkflowStore {
  return {
    workflowPublish: publishAtOnce(database),
    async workflowGet({ tenantId, workflowId }) {
      const [row] = await database.run<WorkflowRow>(GET, [tenantId, workflowId]);
      return row ?? null;
    },
    async definitionDriver({ tenantId, workflowId, version }) {
      const [row] = await database.run<{ driver: string | null }>(GET_DRIVER, [tenantId, workflowId, version]);
      return row?.driver ?? null;
    },
    async definitionGet({ tenantId, workflowId, version }) {
      const [row] = await database.run<DefinitionRow>(GET_DEFINITION, [tenantId, workflowId, version]);
      return row ?? null;
    },
    catalogUpsert: ({ connectors, actions }) =>
      database.transaction(async (session) => {
        await session.run(UPSERT_CONNECTORS, [JSON.stringify(connectors.map(recordOf))]);
        await session.run(UPSERT_ACTIONS, [JSON.stringify(actions.map(recordOf))]);
      }),
  };
}

/** As json_to_recordset takes it: with the names of the columns. */
const recordOf = (row: ConnectorRow | ActionRow) =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [snakeCase(field), value]));
