// Loads a whole batch in one query, in a snapshot newer than the claim's. Rows of five kinds, distinguished by `kind`, are put
// together here. JSON stays the written text (I15).

import { EXECUTION_FIELDS } from '../../execution-fields.ts';
import type { InboxMessage, JsonText, LoadedExecution, NewExecution, Timestamp } from '../../port.ts';
import { uuidArray } from '../array-parameter.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const LOAD = statement('execution_load');

const KIND = { execution: 0, checkpoint: 1, journal: 2, attempt: 3, message: 4 } as const;

export async function loadExecutions(
  engine: Database,
  { executionIds, deciderVersion }: { executionIds: string[]; deciderVersion: number },
): Promise<LoadedExecution[]> {
  const rows = await engine.run<LoadRow>(LOAD, { executionIds: uuidArray(executionIds), deciderVersion });
  const loaded = new Map<string, LoadedExecution>();
  for (const row of rows) {
    if (row.kind === KIND.execution) loaded.set(row.executionId, loadedExecution(row));
  }
  for (const row of rows) {
    const execution = loaded.get(row.executionId);
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
    execution.inbox.push({ id: row.messageId, kind, key: row.key, body: row.body });
  }
}

const FIELDS = Object.keys(EXECUTION_FIELDS) as (keyof typeof EXECUTION_FIELDS)[];

const BLANK: object = { ...Object.fromEntries(FIELDS.map((field) => [field, null])), checkpoint: null };

/** Without a journal and without mail. Copied from an object with all fields, so that all have one shape. */
export function loadedExecution(row: NewExecution): LoadedExecution {
  const loaded = { ...BLANK, journal: [], attempts: [], inbox: [] } as unknown as Record<
    keyof LoadedExecution,
    unknown
  >;
  for (const field of FIELDS) loaded[field] = row[field];
  loaded.traceparent ??= undefined;
  return loaded as unknown as LoadedExecution;
}

/** Which of these are null depends on `kind`. */
interface LoadRow extends NewExecution {
  kind: number;
  seq: number;
  at: Timestamp;
  messageId: string;
  name: string;
  key: string;
  body: JsonText;
}
