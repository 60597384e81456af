// The floor of triggers: the rows that one trigger leaves (instance, timeline, message, delivery), written by a bare loop with
// the same group commit, at most 128 in a batch on three connections, and nothing else: no comparing, no generation, no
// decisions.

import { randomBytes } from 'node:crypto';
import { uuidV7 } from '../src/core/id/id.ts';
import {
  type Column,
  encodeColumns,
  int4,
  json,
  text,
  timestamp,
  uuid,
  uuidArray,
} from '../src/store/postgres/array-parameter.ts';
import { type Database, openEngineDatabase } from '../src/store/postgres/database.ts';
import type { BenchDatabase } from './database.ts';
import { ENV, EVENTS, MACHINE, PAYLOAD, STATES } from './lifecycle-workload.ts';
import { TENANT } from './workload.ts';

const BATCH = 128;
const CONNECTIONS = 3;

const WRITE = {
  name: 'floor_trigger',
  text: `with
    updated as (update lifecycle_instances i set state = ($3::text[])[array_position($1::uuid[], i.id)], revision = i.revision + 1,
        state_since = ($4::timestamptz[])[array_position($1::uuid[], i.id)] where i.id = any($13::uuid[])),
    inserted as (insert into lifecycle_instances (id, definition_id, external_ref, version, state, revision, state_since, timeouts_fired, created_at)
      select m.id, $14::int, m.ref, 1, m.state, 1, m.at, 0, m.at
      from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::int[]) m (id, ref, state, at, turn) where m.turn = 0),
    timeline as (insert into lifecycle_timeline (instance_id, kind, revision, to_state, at, request_id, event, from_state, payload, cause)
      select m.id, 'transition', m.turn + 1, m.state, m.at, m.request, m.event, m.before, m.payload, '{"type":"trigger"}'
      from unnest($1::uuid[], $3::text[], $4::timestamptz[], $5::int[], $6::text[], $7::text[], $8::text[], $9::json[])
        m (id, state, at, turn, request, event, before, payload)),
    written as (insert into messages (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, consumers, open_consumers)
      select m.guid, $15, 'transition', m.id, m.seq, $16, $17, m.event, m.body, 1, 1
      from unnest($10::uuid[], $1::uuid[], $11::int[], $7::text[], $12::json[]) m (guid, id, seq, event, body)),
    sent as (insert into deliveries (ack_guid, consumer_id, subject_id, seq, next_attempt_at)
      select m.guid, $18::int, m.id, m.seq, now() from unnest($10::uuid[], $1::uuid[], $11::int[]) m (guid, id, seq))
    select clock_timestamp() as at`,
};

interface Progress {
  readonly id: string;
  readonly ref: string;
  turn: number;
  at: number;
  guid: string;
}

const COLUMNS = (body: string): readonly Column<Progress>[] => [
  uuid((row) => row.id),
  text((row) => row.ref),
  text((row) => STATES[1 + (row.turn % 2)]!),
  timestamp((row) => row.at),
  int4((row) => row.turn),
  text((row) => `${row.ref}-${row.turn}`),
  text((row) => EVENTS[row.turn % 2]!),
  text((row) => STATES[row.turn === 0 ? 0 : 2 - (row.turn % 2)]!),
  json(() => JSON.stringify(PAYLOAD)),
  uuid((row) => row.guid),
  int4((row) => (row.turn + 1) * 256),
  json(() => body),
];

/** Returns the seconds. Learns the ids and the body of a message from the rows that a trigger has left. */
export async function runTriggerFloor(database: BenchDatabase, instances: number, turns: number): Promise<number> {
  const [learned] = await database.query<{ body: string; consumer: number; definition: number }>(
    `select (select body::text from messages limit 1) as body, (select id from consumers limit 1) as consumer,
       (select id from lifecycle_definitions limit 1) as definition`,
  );
  const connections = openEngineDatabase({
    connectionString: database.url,
    schema: 'public',
    maxConnections: CONNECTIONS,
    applicationName: 'floor',
    queryTimeoutMs: 60_000,
  });
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => connections.run({ name: '', text: 'select' }, [])));
    const columns = COLUMNS(learned!.body);
    const constants = [learned!.definition, TENANT, ENV, MACHINE, learned!.consumer];
    const started = performance.now();
    await writeAll(connections, columns, constants, instances, turns);
    return (performance.now() - started) / 1000;
  } finally {
    await connections.close();
  }
}

const newId = (): string => uuidV7(Date.now(), randomBytes(16));

async function writeAll(
  connections: Database,
  columns: readonly Column<Progress>[],
  constants: readonly unknown[],
  instances: number,
  turns: number,
): Promise<void> {
  const pending: Progress[] = [];
  let begun = 0;
  const writer = async () => {
    for (;;) {
      while (pending.length < BATCH && begun < instances) {
        pending.push({ id: newId(), ref: `floor-${begun++}`, turn: 0, at: 0, guid: '' });
      }
      const batch = pending.splice(0, BATCH);
      if (batch.length === 0) return;
      const at = Date.now();
      for (const row of batch) Object.assign(row, { at, guid: newId() });
      const known = uuidArray(batch.filter(({ turn }) => turn > 0).map(({ id }) => id));
      await connections.run(WRITE, [...encodeColumns(columns, batch), known, ...constants]);
      for (const row of batch) if (++row.turn < turns) pending.push(row);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, writer));
}
