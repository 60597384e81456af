// Instances of lifecycles on PostgreSQL: the hot write, what is due, the timeline, the outcomes of hooks. Each method is one
// statement.

import type {
  InstanceKey,
  InstanceRow,
  LifecycleBatch,
  LifecycleMove,
  LifecycleStore,
  LoadedInstance,
  Reaction,
  TimelineEntry,
} from '../lifecycle-port.ts';
import type { Timestamp } from '../port.ts';
import { type Column, encodeColumns, int4, json, text, timestamp, uuid } from './array-parameter.ts';
import type { Database } from './database.ts';
import { readable } from './execution-columns.ts';
import { encodeDeliveries, encodeMessages } from './message-columns.ts';
import { statement } from './statement.ts';

const APPLY = statement('lifecycle_apply');
const LOAD = statement('instance_load');
const STAY = statement('instance_stay');
const CLAIM_DUE = statement('instance_claim_due');
const LIST = statement('instance_list');
const LIST_IN_STATE = statement('instance_list_in_state');
const LIST_TIMELINE = statement('timeline_list');
const ADD_ACTIVITY = statement('activity_add');
const CLAIM_REACTIONS = statement('reaction_claim');
const SETTLE_REACTIONS = statement('reaction_settle');

const MOVE_COLUMNS: readonly Column<LifecycleMove>[] = [
  uuid((row) => row.instanceId),
  text((row) => row.tenantId),
  text((row) => row.env),
  text((row) => row.definition),
  int4((row) => row.revision),
  text((row) => row.externalRef),
  int4((row) => row.version),
  text((row) => row.toState),
  timestamp((row) => row.at),
  timestamp((row) => row.stateSince),
  int4((row) => row.timeoutsFired),
  timestamp((row) => row.dueAt),
  text((row) => row.requestId),
  text((row) => row.event),
  text((row) => row.fromState),
  text((row) => (row.actor === null ? null : readable(row.actor))),
  json((row) => row.payload),
  json((row) => row.cause),
];

const KEY_COLUMNS: readonly Column<InstanceKey & { requestId: string | null }>[] = [
  text((row) => row.tenantId),
  text((row) => row.env),
  text((row) => row.definition),
  text((row) => row.externalRef),
  text((row) => row.requestId),
];

type MachineMethods = 'lifecycleImport' | 'lifecycleList' | 'lifecycleGet' | 'lifecycleGeneration';

export function instanceStore(engine: Database, reader: Database): Omit<LifecycleStore, MachineMethods> {
  return {
    async lifecycleApply(batch) {
      const [row] = await engine.run<{ current: boolean; applied: string[]; at: Timestamp }>(APPLY, applyValues(batch));
      return row!;
    },
    async instanceLoad({ keys }) {
      const rows = await engine.run<LoadRow>(LOAD, encodeColumns(KEY_COLUMNS, keys));
      const loaded: (LoadedInstance | null)[] = keys.map(() => null);
      for (const row of rows) loaded[Number(row.place) - 1] = loadedInstance(row);
      return loaded;
    },
    instanceStay: async ({ instanceId, revision, requestId, event }) =>
      (await engine.run(STAY, [instanceId, revision, requestId, event])).length > 0,
    async instanceClaimDue({ limit, leaseMs }) {
      const rows = await engine.run<Row & { at: Timestamp }>(CLAIM_DUE, [limit, leaseMs]);
      return { due: rows.filter(({ id }) => id !== null).map(instanceRow), at: rows[0]!.at };
    },
    async instanceList({ tenantId, env, definition, state, after, limit }) {
      const values = [tenantId, env, definition, after, limit];
      const rows = await (state === null
        ? reader.run<Row>(LIST, values)
        : reader.run<Row>(LIST_IN_STATE, [...values, state]));
      return rows.map(instanceRow);
    },

    async timelineList({ tenantId, instanceId, after, limit }) {
      const rows = await reader.run<TimelineRow>(LIST_TIMELINE, [tenantId, instanceId, after, limit]);
      return rows.map(({ from_state: fromState, to_state: toState, request_id: requestId, ...row }) => ({
        ...row,
        fromState,
        toState,
        requestId,
      }));
    },
    async activityAdd({ tenantId, instanceId, activityId, activity, status, actor, payload }) {
      const words = [readable(activity), readable(status), actor === null ? null : readable(actor)];
      const values = [tenantId, instanceId, activityId, ...words, payload];
      const [row] = await reader.run<{ found: boolean }>(ADD_ACTIVITY, values);
      return row!.found;
    },

    async reactionClaim({ limit, leaseMs }) {
      return (await engine.run<ReactionRow>(CLAIM_REACTIONS, [limit, leaseMs])).map(reaction);
    },
    async reactionSettle({ reactionIds }) {
      await engine.run(SETTLE_REACTIONS, [reactionIds]);
    },
  };
}

function applyValues({ generation, moves, messages, deliveries, reactionsSettled }: LifecycleBatch): unknown[] {
  return [
    generation,
    ...encodeColumns(MOVE_COLUMNS, moves.toSorted(byKey)),
    ...encodeMessages(messages),
    ...encodeDeliveries(deliveries),
    reactionsSettled,
  ];
}

/** Any order will do, as long as every process has the same: who creates the same instances then waits in one direction. */
function byKey(a: InstanceKey, b: InstanceKey): number {
  if (a.externalRef !== b.externalRef) return a.externalRef < b.externalRef ? -1 : 1;
  const left = `${a.tenantId} ${a.env} ${a.definition}`;
  const right = `${b.tenantId} ${b.env} ${b.definition}`;
  return left < right ? -1 : left > right ? 1 : 0;
}

const instanceRow = (row: Row): InstanceRow => ({
  instanceId: row.id,
  tenantId: row.tenant_id,
  env: row.env,
  definition: row.definition,
  externalRef: row.external_ref,
  version: row.version,
  state: row.state,
  revision: row.revision,
  stateSince: row.state_since,
  timeoutsFired: row.timeouts_fired,
  dueAt: row.due_at,
  createdAt: row.created_at,
});

const loadedInstance = (row: LoadRow): LoadedInstance => ({
  ...instanceRow(row),
  seen:
    row.seen_event === null
      ? null
      : { event: row.seen_event, fromState: row.seen_from!, toState: row.seen_to!, revision: row.seen_revision },
});

const reaction = (row: ReactionRow): Reaction => ({
  reactionId: row.id,
  ackGuid: row.ack_guid,
  outcome: row.outcome,
  instanceId: row.instance_id,
  event: row.event,
  tenantId: row.tenant_id,
  env: row.env,
  definition: row.definition,
  externalRef: row.external_ref,
});

interface KeyRow {
  tenant_id: string;
  env: string;
  definition: string;
  external_ref: string;
}

interface Row extends KeyRow {
  id: string;
  version: number;
  state: string;
  revision: number;
  state_since: Timestamp;
  timeouts_fired: number;
  due_at: Timestamp | null;
  created_at: Timestamp;
}

interface LoadRow extends Row {
  place: string;
  seen_event: string | null;
  seen_from: string | null;
  seen_to: string | null;
  seen_revision: number | null;
}

interface TimelineRow extends Omit<TimelineEntry, 'fromState' | 'toState' | 'requestId'> {
  from_state: string | null;
  to_state: string | null;
  request_id: string | null;
}

interface ReactionRow extends KeyRow {
  id: string;
  ack_guid: string;
  outcome: Reaction['outcome'];
  instance_id: string;
  event: string;
}
