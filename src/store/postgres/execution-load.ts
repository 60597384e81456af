// Loading: one query for the whole batch, in a snapshot newer than the claim's. Its rows are of five kinds, told apart by
// `kind`; here they are put together again. JSON stays the text that was written (I15).

import type { InboxMessage, JsonText, LoadedExecution, Timestamp } from '../port.ts';
import { uuidArray } from './array-parameter.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

const LOAD = statement('execution_load');

const KIND = { execution: 0, checkpoint: 1, journal: 2, attempt: 3, message: 4 } as const;

export async function loadExecutions(
  engine: Database,
  { executionIds, deciderVersion }: { executionIds: string[]; deciderVersion: number },
): Promise<LoadedExecution[]> {
  const rows = await engine.run<LoadRow>(LOAD, [uuidArray(executionIds), deciderVersion]);
  const loaded = new Map<string, LoadedExecution>();
  for (const row of rows) {
    if (row.kind === KIND.execution) loaded.set(row.execution_id, loadedExecution(row));
  }
  for (const row of rows) {
    const execution = loaded.get(row.execution_id);
    if (execution !== undefined) addPart(execution, row);
  }
  return executionIds.flatMap((id) => loaded.get(id) ?? []);
}

function addPart(execution: LoadedExecution, row: LoadRow): void {
  if (row.kind === KIND.checkpoint) {
    execution.checkpoint = { seq: row.seq, state: row.body };
  } else if (row.kind === KIND.journal) {
    execution.journal.push({ seq: row.seq, at: row.at, facts: row.body });
  } else if (row.kind === KIND.attempt) {
    execution.attempts.push({ nodeId: row.name, attempt: row.seq, outputs: row.body });
  } else if (row.kind === KIND.message) {
    const kind = row.name as InboxMessage['kind'];
    execution.inbox.push({ id: row.message_id, kind, key: row.key, body: row.body });
  }
}

/** Without a journal and without mail. */
export function loadedExecution(row: ExecutionRow): LoadedExecution {
  const loaded = {
    executionId: row.execution_id,
    tenantId: row.tenant_id,
    workflowId: row.workflow_id,
    version: row.version,
    format: row.format,
    priority: row.priority,
    behaviour: row.behaviour,
    trigger: row.trigger,
    spec: row.spec,
    principal: row.principal,
    correlationId: row.correlation_id,
    requestId: row.request_id,
    parentId: row.parent_id,
    parentNode: row.parent_node,
    depth: row.depth,
    projectId: row.project_id,
    environmentId: row.environment_id,
    createdAt: row.created_at,
    checkpoint: null,
    journal: [],
    attempts: [],
    inbox: [],
  };
  return row.traceparent === null ? loaded : { ...loaded, traceparent: row.traceparent };
}

/** Which of these are null depends on `kind`. */
interface LoadRow extends ExecutionRow {
  kind: number;
  seq: number;
  at: Timestamp;
  message_id: string;
  name: string;
  key: string;
  body: JsonText;
}

export interface ExecutionRow {
  execution_id: string;
  tenant_id: string;
  workflow_id: string;
  version: number;
  format: string;
  priority: number;
  behaviour: number;
  trigger: JsonText;
  spec: JsonText | null;
  principal: JsonText;
  correlation_id: string;
  request_id: string | null;
  parent_id: string | null;
  parent_node: string | null;
  depth: number;
  project_id: string;
  environment_id: string;
  created_at: Timestamp;
  traceparent: string | null;
}
