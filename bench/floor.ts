// The floor: what this machine and this schema allow. A bare loop writes the rows of our engine into the same tables with the
// same group commit (at most 256 transitions in a batch, three connections) and does nothing else: no fence, no decisions, no
// loading, no actions, no safety. The design is judged by how near the engine comes to the floor.

import {
  encodeColumns,
  int2,
  int4,
  json,
  text,
  timestamp,
  uuid,
  uuidArray,
} from '../src/store/postgres/array-parameter.ts';
import { type Database, openEngineDatabase } from '../src/store/postgres/database.ts';
import type { BenchDatabase } from './database.ts';
import type { FloorAttempt, FloorEvent, FloorOutcome, FloorTurn } from './floor-rows.ts';
import { TENANT } from './workload.ts';

const BATCH = 256;
const COMMIT_CONNECTIONS = 3;
const RESIDENT = 500;

const CLAIM = {
  name: 'floor_claim',
  text: `update execution_queue set state = 1, runner_id = 0, epoch = epoch + 1 where execution_id = any(array(
    select execution_id from execution_queue where state = 0 and tenant_id = $1 and priority = 5
    order by ready_at limit $2::int for update skip locked)) returning execution_id`,
};

const COMMIT = {
  name: 'floor_commit',
  text: `with
    outbox as (insert into commit_batches (runner_id, execution_ids, seqs) values (0, $1::uuid[], $2::int[])),
    outcomes as (insert into execution_outcomes (execution_id, tenant_id, status, outputs, error, context_snapshot, started_at, ended_at)
      select * from unnest($6::uuid[], $7::text[], $8::text[], $9::json[], $10::json[], $11::json[], $12::timestamptz[], $13::timestamptz[])),
    ended as (delete from execution_queue where execution_id = any($14::uuid[])),
    attempts as (insert into action_executions (execution_id, node_id, attempt, action_type, status, started_seq, outputs, error, started_at, ended_at)
      select * from unnest($15::uuid[], $16::text[], $17::smallint[], $18::text[], $19::text[], $20::int[], $21::json[], $22::json[], $23::timestamptz[], $24::timestamptz[])),
    events as (insert into execution_events (execution_id, seq, at, facts, inputs)
      select * from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::json[], $5::json[]))
    select clock_timestamp() as at`,
};

/** A row of one execution; `at` is when it was written. */
type Of<Row> = Row & { readonly id: string; readonly at: number };

const EVENTS = [
  uuid<Of<FloorEvent>>((row) => row.id),
  int4<Of<FloorEvent>>((row) => row.seq),
  timestamp<Of<FloorEvent>>((row) => row.at),
  json<Of<FloorEvent>>((row) => row.facts),
  json<Of<FloorEvent>>((row) => row.inputs),
];
const OUTCOMES = [
  uuid<Of<FloorOutcome>>((row) => row.id),
  text<Of<FloorOutcome>>((row) => row.tenantId),
  text<Of<FloorOutcome>>((row) => row.status),
  json<Of<FloorOutcome>>((row) => row.outputs),
  json<Of<FloorOutcome>>((row) => row.error),
  json<Of<FloorOutcome>>((row) => row.contextSnapshot),
  timestamp<Of<FloorOutcome>>((row) => row.at),
  timestamp<Of<FloorOutcome>>((row) => row.at),
];
const ATTEMPTS = [
  uuid<Of<FloorAttempt>>((row) => row.id),
  text<Of<FloorAttempt>>((row) => row.nodeId),
  int2<Of<FloorAttempt>>((row) => row.attempt),
  text<Of<FloorAttempt>>((row) => row.actionType),
  text<Of<FloorAttempt>>((row) => row.status),
  int4<Of<FloorAttempt>>((row) => row.startedSeq),
  json<Of<FloorAttempt>>((row) => row.outputs),
  json<Of<FloorAttempt>>((row) => row.error),
  timestamp<Of<FloorAttempt>>((row) => row.at),
  timestamp<Of<FloorAttempt>>((row) => row.at),
];

interface Progress {
  readonly id: string;
  /** The index of the next turn. */
  turn: number;
}

/** Runs the queue to its end. Returns the seconds. */
export async function runFloor(database: BenchDatabase, turns: readonly FloorTurn[], count: number): Promise<number> {
  const connections = openEngineDatabase({
    connectionString: database.url,
    schema: 'public',
    maxConnections: COMMIT_CONNECTIONS + 1,
    applicationName: 'floor',
    queryTimeoutMs: 60_000,
  });
  try {
    // The connections are open before the clock starts, as the engine's are when its runner starts.
    await Promise.all(Array.from({ length: COMMIT_CONNECTIONS + 1 }, () => connections.run(NOTHING, [])));
    const started = performance.now();
    await drain(connections, turns, count);
    return (performance.now() - started) / 1000;
  } finally {
    await connections.close();
  }
}

const NOTHING = { name: '', text: 'select' };

function drain(connections: Database, turns: readonly FloorTurn[], count: number): Promise<void> {
  let pending: Progress[] = [];
  let free = COMMIT_CONNECTIONS;
  let scheduled = false;
  let active = 0;
  let done = 0;
  let claiming = false;
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  async function claim(): Promise<void> {
    if (claiming) return;
    claiming = true;
    const rows = await connections.run<{ executionId: string }>(CLAIM, [TENANT, RESIDENT - active]);
    claiming = false;
    active += rows.length;
    for (const { executionId: id } of rows) pending.push({ id, turn: 0 });
    schedule();
  }

  function schedule(): void {
    if (scheduled || pending.length === 0 || free === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (pending.length > 0 && free > 0) commit().catch(reject);
    });
  }

  async function commit(): Promise<void> {
    free--;
    const batch = pending.slice(0, BATCH);
    pending = pending.slice(BATCH);
    await connections.run(COMMIT, commitParameters(batch, turns));
    free++;
    for (const progress of batch) {
      if (++progress.turn < turns.length) pending.push(progress);
      else {
        active--;
        done++;
      }
    }
    if (done === count) resolve();
    else if (active < RESIDENT / 2) claim().catch(reject);
    schedule();
  }

  claim().catch(reject);
  return promise;
}

function commitParameters(batch: readonly Progress[], turns: readonly FloorTurn[]): unknown[] {
  const at = Date.now();
  const events: Of<FloorEvent>[] = [];
  const attempts: Of<FloorAttempt>[] = [];
  const outcomes: Of<FloorOutcome>[] = [];
  for (const { id, turn } of batch) {
    const rows = turns[turn]!;
    for (const row of rows.events) events.push({ ...row, id, at });
    for (const row of rows.attempts) attempts.push({ ...row, id, at });
    if (rows.outcome !== null) outcomes.push({ ...rows.outcome, id, at });
  }
  return [
    ...encodeColumns(EVENTS, events),
    ...encodeColumns(OUTCOMES, outcomes),
    uuidArray(outcomes.map(({ id }) => id)),
    ...encodeColumns(ATTEMPTS, attempts),
  ];
}
