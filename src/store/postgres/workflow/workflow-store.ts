// Workflows as the engine needs them: what is published, and the catalog of what is registered. Their life before and after
// that is in workflow-life-store.ts.

import type { ActionRow, ConnectorRow } from '../../catalog-port.ts';
import { Gathering } from '../../gathering.ts';
import type { ChildTarget, DefinitionRow, WorkflowRow, WorkflowStore } from '../../port.ts';
import { snakeCase } from '../column-list.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';
import { publishAtOnce } from './workflow-life-store.ts';

const GET = statement('workflow_get');
const GET_DEFINITION = statement('definition_get');
const GET_DRIVER = statement('definition_driver');
const STATUSES = statement('workflow_statuses');
const CHILD_TARGETS = statement('child_targets');
const UPSERT_CONNECTORS = statement('connector_upsert');
const UPSERT_ACTIONS = statement('action_upsert');

const MAX_QUESTIONS = 256;

type Workflow = Parameters<WorkflowStore['workflowArchived']>[0];
type Child = Parameters<WorkflowStore['childTarget']>[0];

/** `engine` is asked on behalf of many tenants at once, `database` for one at a time. */
export function workflowStore(engine: Database, database: Database): WorkflowStore {
  const timers = { soon: (callback: () => void) => void setImmediate(callback) };
  const archived = new Gathering(timers, MAX_QUESTIONS, (asked: Workflow[]) => archivedOf(engine, asked));
  const children = new Gathering(timers, MAX_QUESTIONS, (asked: Child[]) => childrenOf(engine, asked));
  return {
    workflowArchived: (workflow) => archived.ask(workflow),
    childTarget: (child) => children.ask(child),
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

async function archivedOf(engine: Database, asked: readonly Workflow[]): Promise<(boolean | null)[]> {
  const found = asked.map((): boolean | null => null);
  const rows = await engine.run<{ place: number; status: WorkflowRow['status'] }>(STATUSES, namesOf(asked));
  for (const { place, status } of rows) found[place - 1] = status === 'Archived';
  return found;
}

async function childrenOf(engine: Database, asked: readonly Child[]): Promise<(ChildTarget | null)[]> {
  const found = asked.map((): ChildTarget | null => null);
  const versions = asked.map(({ version }) => version);
  const rows = await engine.run<ChildTarget & { place: number }>(CHILD_TARGETS, [...namesOf(asked), versions]);
  for (const { place, ...target } of rows) found[place - 1] = target;
  return found;
}

const namesOf = (asked: readonly Workflow[]) => [
  asked.map(({ tenantId }) => tenantId),
  asked.map(({ workflowId }) => workflowId),
];

/** As json_to_recordset takes it: with the names of the columns. */
const recordOf = (row: ConnectorRow | ActionRow) =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [snakeCase(field), value]));
