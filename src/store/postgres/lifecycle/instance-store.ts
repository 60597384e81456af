// Instances of lifecycles on PostgreSQL: the hot write, due timeouts, the timeline, the outcomes of hooks. Each method is one
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
} from '../../lifecycle-port.ts';
import type { Timestamp } from '../../port.ts';
import { type Column, encodeColumns, int4, json, text, timestamp, uuid } from '../array-parameter.ts';
import { readable } from '../column-list.ts';
import type { Database } from '../database.ts';
import { encodeDeliveries, encodeMessages } from '../delivery/message-columns.ts';
import { statement } from '../statement.ts';

const APPLY = statement('lifecycle_apply');
const LOAD = statement('instance_load');
const CREATE = statement('instance_create');
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

type MachineMethods =
  | 'lifecycleImport'
  | 'lifecycleList'
  | 'lifecycleGet'
  | 'lifecycleVersions'
  | 'lifecycleGeneration';

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
    async instanceCreate({ generation, instanceId, tenantId, env, definition, externalRef, version, state, ...rest }) {
      const actor = rest.actor === null ? null : readable(rest.actor);
      const times = [new Date(rest.at), rest.dueAt === null ? null : new Date(rest.dueAt)];
      const key = [generation, instanceId, tenantId, env, definition, externalRef, version, state];
      const [row] = await engine.run<{ current: boolean; created: boolean }>(CREATE, [
        ...key,
        ...times,
        actor,
        rest.payload,
      ]);
      return row!;
    },
    instanceStay: async ({ instanceId, revision, requestId, event }) =>
      (await engine.run(STAY, [instanceId, revision, requestId, event])).length > 0,
    async instanceClaimDue({ limit, leaseMs }) {
      const rows = await engine.run<Row & { at: Timestamp }>(CLAIM_DUE, [limit, leaseMs]);
      const due = rows.flatMap(({ at: _, ...row }) => (row.id === null ? [] : [instanceRow(row)]));
      return { due, at: rows[0]!.at };
    },
    async instanceList({ tenantId, env, definition, state, prefix = '', after, limit }) {
      const values = [tenantId, env, definition, after, limit, prefix];
      const rows = await (state === null
        ? reader.run<Row>(LIST, values)
        : reader.run<Row>(LIST_IN_STATE, [...values, state]));
      return rows.map(instanceRow);
    },

    timelineList: ({ tenantId, instanceId, after, limit }) =>
      reader.run<TimelineEntry>(LIST_TIMELINE, [tenantId, instanceId, after, limit]),
    async activityAdd({ tenantId, instanceId, activityId, activity, status, actor, payload }) {
      const words = [readable(activity), readable(status), actor === null ? null : readable(actor)];
      const values = [tenantId, instanceId, activityId, ...words, payload];
      const [row] = await reader.run<{ found: boolean }>(ADD_ACTIVITY, values);
      return row!.found;
    },

    async reactionClaim({ limit, leaseMs }) {
      type Row = Omit<Reaction, 'reactionId'> & { id: string };
      const rows = await engine.run<Row>(CLAIM_REACTIONS, [limit, leaseMs]);
      return rows.map(({ id, ...row }) => ({ ...row, reactionId: id }));
    },
    async reactionSettle({ reactionIds }) {
      await engine.run(SETTLE_REACTIONS, [reactionIds]);
    },
  };
}

function applyValues({ generation, moves, messages, deliveries, reactionsSettled }: LifecycleBatch): unknown[] {
  const ordered = moves.toSorted(byKey);
  const sent = Map.groupBy(messages, ({ subjectId }) => subjectId);
  const sentBy = text<LifecycleMove>(({ instanceId }) => arrayText(sent.get(instanceId)));
  return [
    generation,
    ...encodeColumns(MOVE_COLUMNS, ordered),
    ...encodeMessages(messages),
    ...encodeDeliveries(deliveries),
    reactionsSettled,
    ...encodeColumns([sentBy], ordered),
  ];
}

const arrayText = (sent: readonly { readonly ackGuid: string }[] | undefined): string | null =>
  sent === undefined ? null : `{${sent.map(({ ackGuid }) => ackGuid).join(',')}}`;

/** Any order will do, as long as all processes share it: concurrent creators of the same instances then wait in one direction. */
function byKey(a: InstanceKey, b: InstanceKey): number {
  if (a.externalRef !== b.externalRef) return a.externalRef < b.externalRef ? -1 : 1;
  const left = `${a.tenantId} ${a.env} ${a.definition}`;
  const right = `${b.tenantId} ${b.env} ${b.definition}`;
  return left < right ? -1 : left > right ? 1 : 0;
}

const instanceRow = ({ id, ...row }: Row): InstanceRow => ({ ...row, instanceId: id });

function loadedInstance({ place: _, seenEvent, seenFrom, seenTo, seenRevision, ...row }: LoadRow): LoadedInstance {
  const seen =
    seenEvent === null ? null : { event: seenEvent, fromState: seenFrom!, toState: seenTo!, revision: seenRevision };
  return { ...instanceRow(row), seen };
}

interface LoadRow extends Row {
  place: string;
  seenEvent: string | null;
  seenFrom: string | null;
  seenTo: string | null;
  seenRevision: number | null;
}

type Row = Omit<InstanceRow, 'instanceId'> & { id: string };
