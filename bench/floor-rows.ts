// The rows that the floor writes: those that our engine wrote for most executions of the same workflow, learned from the
// database. So the floor always matches the engine: it writes the same rows, and nothing else.

import type { BenchDatabase } from './database.ts';

type Json = string | null;

export interface FloorEvent {
  readonly seq: number;
  readonly facts: string;
  readonly inputs: Json;
}

export interface FloorAttempt {
  readonly nodeId: string;
  readonly attempt: number;
  readonly actionType: string;
  readonly status: string;
  readonly startedSeq: number;
  readonly outputs: Json;
  readonly error: Json;
}

export interface FloorOutcome {
  readonly tenantId: string;
  readonly status: string;
  readonly outputs: Json;
  readonly error: Json;
  readonly contextSnapshot: Json;
}

/** The rows of one execution in one commit of the engine. The last turn has the outcome. */
export interface FloorTurn {
  readonly events: readonly FloorEvent[];
  readonly attempts: readonly FloorAttempt[];
  readonly outcome: FloorOutcome | null;
}

/** An execution with the most common number of journal rows in each of its commits. */
const TYPICAL = `with commits as (
    select execution_id, min(seq) as first, count(*) as journal_rows from execution_events group by execution_id, xmin::text),
  shapes as (select execution_id as id, array_agg(journal_rows order by first) as shape from commits group by execution_id)
  select id from shapes where shape = (select shape from shapes group by shape order by count(*) desc limit 1) limit 1`;

type InTransaction<Row> = Row & { readonly transaction: string };

/** Many executions must have ended at once: under load, an execution leaves fewer rows than when it runs alone. */
export async function learnTurns(database: BenchDatabase): Promise<FloorTurn[]> {
  const [typical] = await database.query<{ id: string }>(TYPICAL);
  if (typical === undefined) throw new Error('there is no ended execution to learn from');
  const values = [typical.id];
  // The rows of one commit share one transaction.
  const events = await database.query<InTransaction<FloorEvent>>(
    `select xmin::text as transaction, seq, facts::text as facts, inputs::text as inputs
     from execution_events where execution_id = $1 order by seq`,
    values,
  );
  const attempts = await database.query<InTransaction<FloorAttempt>>(
    `select xmin::text as transaction, node_id as "nodeId", attempt, action_type as "actionType", status,
       started_seq as "startedSeq", outputs::text as outputs, error::text as error
     from action_executions where execution_id = $1`,
    values,
  );
  const outcomes = await database.query<InTransaction<FloorOutcome>>(
    `select xmin::text as transaction, tenant_id as "tenantId", status, outputs::text as outputs, error::text as error,
       context_snapshot::text as "contextSnapshot" from execution_outcomes where execution_id = $1`,
    values,
  );
  const transactions = [...new Set(events.map(({ transaction }) => transaction))];
  return transactions.map((transaction) => ({
    events: events.filter((row) => row.transaction === transaction),
    attempts: attempts.filter((row) => row.transaction === transaction),
    outcome: outcomes.find((row) => row.transaction === transaction) ?? null,
  }));
}
