// Imported machines on PostgreSQL: versions, their rows for SQL queries, and the generation.

import type { LifecycleImport, LifecycleStore, LifecycleVersion } from '../../lifecycle-port.ts';
import { bool, type Column, encodeColumns, int4, int8, json, text, uuid } from '../array-parameter.ts';
import { readable } from '../column-list.ts';
import type { Database, Session } from '../database.ts';
import { statement } from '../statement.ts';

const GENERATION = statement('lifecycle_generation');
const RAISE = statement('lifecycle_generation_raise');
const ADD_ENVIRONMENT = statement('lifecycle_environment_add');
const LOCK_DEFINITION = statement('lifecycle_definition_lock');
const CHECKSUM = statement('lifecycle_version_checksum');
const ADD_VERSION = statement('lifecycle_version_add');
const ADD_ROWS = statement('lifecycle_rows_add');
const LIST = statement('lifecycle_list');
const GET = statement('lifecycle_get');
const VERSIONS = statement('lifecycle_version_list');

const STATE_COLUMNS: readonly Column<LifecycleImport['states'][number]>[] = [
  text((row) => row.name),
  bool((row) => row.isInitial),
  bool((row) => row.isFinal),
  int8((row) => row.timeoutMs),
  text((row) => row.timeoutEvent),
  text((row) => row.timeoutMode),
  int4((row) => row.timeoutMax),
  int8((row) => row.timeoutIntervalMs),
];

const EVENT_COLUMNS: readonly Column<LifecycleImport['events'][number]>[] = [
  text((row) => row.name),
  uuid((row) => row.eventId),
  int8((row) => row.code),
];

const TRANSITION_COLUMNS: readonly Column<LifecycleImport['transitions'][number]>[] = [
  text((row) => row.fromState),
  text((row) => row.event),
  text((row) => row.toState),
  bool((row) => row.reenter),
];

const POLICY_COLUMNS: readonly Column<LifecycleImport['policyRows'][number]>[] = [
  text((row) => row.name),
  int4((row) => row.ordinal),
  json((row) => row.on),
  text((row) => (row.condition === null ? null : readable(row.condition))),
];

const ROUTE_COLUMNS: readonly Column<LifecycleImport['routes'][number]>[] = [
  text((row) => row.policy),
  int4((row) => row.ordinal),
  text((row) => row.hook),
  text((row) => row.workflow),
  json((row) => JSON.stringify(row.consumers)),
  text((row) => row.onSucceeded),
  text((row) => row.onFailed),
];

type MachineStore = Pick<LifecycleStore, `lifecycle${'Import' | 'List' | 'Get' | 'Versions' | 'Generation'}`>;

export function lifecycleStore(engine: Database, reader: Database): MachineStore {
  return {
    lifecycleImport: (machine) => reader.transaction((session) => importMachine(session, machine)),
    async lifecycleList({ tenantId, after, limit }) {
      const rows = await reader.run<LifecycleVersion>(LIST, [tenantId, after?.env ?? '', after?.name ?? '', limit]);
      return rows;
    },
    async lifecycleGet({ tenantId, env, name, version }) {
      const [row] = await reader.run<LifecycleVersion>(GET, [tenantId, env, name, version]);
      return row ?? null;
    },
    lifecycleVersions: ({ tenantId, env, name, before, limit }) =>
      reader.run(VERSIONS, [tenantId, env, name, before, limit]),
    async lifecycleGeneration() {
      const [row] = await engine.run<{ generation: string }>(GENERATION, []);
      return row?.generation ?? '0';
    },
  };
}

/** The last statement of a transaction that changes the basis of decisions on triggers. */
export const raiseGeneration = (session: Session): Promise<unknown> => session.run(RAISE, []);

async function importMachine(session: Session, machine: LifecycleImport) {
  const { tenantId, env, name, checksum, definition, policies } = machine;
  await session.run(ADD_ENVIRONMENT, [tenantId, env]);
  const [locked] = await session.run<{ id: number; newestVersion: number }>(LOCK_DEFINITION, [tenantId, env, name]);
  const { id, newestVersion: newest } = locked!;
  const [existing] = await session.run<{ checksum: string }>(CHECKSUM, [id, newest]);
  if (existing?.checksum === checksum) return { version: newest, changed: false };
  const version = newest + 1;
  await session.run(ADD_VERSION, [id, version, checksum, definition, policies]);
  await session.run(ADD_ROWS, [
    id,
    version,
    ...encodeColumns(STATE_COLUMNS, machine.states),
    ...encodeColumns(EVENT_COLUMNS, machine.events),
    ...encodeColumns(TRANSITION_COLUMNS, machine.transitions),
    ...encodeColumns(POLICY_COLUMNS, machine.policyRows),
    ...encodeColumns(ROUTE_COLUMNS, machine.routes),
  ]);
  await raiseGeneration(session);
  return { version, changed: true };
}
