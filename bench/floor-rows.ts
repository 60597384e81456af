// The rows that the floor writes: those that our engine wrote for one execution of the same workflow, learned from the
// database. So the floor never falls behind the engine: whatever the engine writes, the floor writes too.

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

/** What one commit of the engine holds for one execution. The last one has the outcome. */
export interface FloorTurn {
  readonly events: readonly FloorEvent[];
  readonly attempts: readonly FloorAttempt[];
  readonly outcome: FloorOutcome | null;
}

type InTransaction<Row> = Row & { readonly transaction: string };

/** Expects exactly one execution in the database, and that it has ended. */
export async function learnTurns(database: BenchDatabase): Promise<FloorTurn[]> {
  // Rows of one commit have one transaction.
  const events = await database.query<InTransaction<FloorEvent>>(
    `select xmin::text as transaction, seq, facts::text as facts, inputs::text as inputs
     from execution_events order by seq`,
  );
  const attempts = await database.query<InTransaction<FloorAttempt>>(
    `select xmin::text as transaction, node_id as "nodeId", attempt, action_type as "actionType", status,
       started_seq as "startedSeq", outputs::text as outputs, error::text as error from action_executions`,
  );
  const outcomes = await database.query<InTransaction<FloorOutcome>>(
    `select xmin::text as transaction, tenant_id as "tenantId", status, outputs::text as outputs, error::text as error,
       context_snapshot::text as "contextSnapshot" from execution_outcomes`,
  );
  if (outcomes.length !== 1) throw new Error(`expected one ended execution to learn from, found ${outcomes.length}`);
  const transactions = [...new Set(events.map(({ transaction }) => transaction))];
  return transactions.map((transaction) => ({
    events: events.filter((row) => row.transaction === transaction),
    attempts: attempts.filter((row) => row.transaction === transaction),
    outcome: outcomes.find((row) => row.transaction === transaction) ?? null,
  }));
}
