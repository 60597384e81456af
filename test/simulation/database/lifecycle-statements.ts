// Lifecycles: imports, the compare-and-set of triggers, timeouts, timeline, reactions. See src/store/postgres/lifecycle/lifecycle.sql
// and instance.sql.

import type {
  InstanceKey,
  InstanceRow,
  LifecycleBatch,
  LifecycleMove,
  LifecycleStore,
} from '../../../src/store/lifecycle-port.ts';
import { checkMove, checkSent, json, readable } from './column.ts';
import { addDeliveries, addMessages } from './message-rows.ts';
import { readClock, type Statements, type Tables } from './tables.ts';

export function lifecycleStatements(tables: Tables): Pick<Statements, keyof LifecycleStore> {
  const { messaging } = tables;
  return {
    lifecycleImport: (machine) => importMachine(tables, machine),
    lifecycleList({ tenantId, after, limit }) {
      const past = after === null ? '' : JSON.stringify([after.env, after.name]);
      return [...messaging.lifecycles.values()]
        .map((versions) => ({ ...versions.at(-1)!, newestVersion: versions.length }))
        .filter((row) => row.tenantId === tenantId && JSON.stringify([row.env, row.name]) > past)
        .sort((a, b) => (JSON.stringify([a.env, a.name]) < JSON.stringify([b.env, b.name]) ? -1 : 1))
        .slice(0, limit);
    },
    lifecycleGet({ tenantId, env, name, version }) {
      const versions = messaging.lifecycles.get(machineKey({ tenantId, env, definition: name })) ?? [];
      const row = versions[(version ?? versions.length) - 1];
      return row === undefined ? null : { ...row, newestVersion: versions.length };
    },
    lifecycleVersions: ({ tenantId, env, name, before, limit }) =>
      (messaging.lifecycles.get(machineKey({ tenantId, env, definition: name })) ?? [])
        .filter(({ version }) => before === null || version < before)
        .map(({ version, checksum, createdAt }) => ({ version, checksum, createdAt }))
        .toReversed()
        .slice(0, limit),
    lifecycleGeneration: () => String(messaging.generation),
    instanceLoad: ({ keys }) => keys.map(({ requestId, ...key }) => load(tables, key, requestId)),
    lifecycleApply: (batch) => apply(tables, batch),
    instanceCreate: (params) => create(tables, params),
    instanceStay: (params) => stay(tables, params),
    instanceClaimDue({ limit, leaseMs }) {
      const now = tables.clock();
      const due = [...messaging.instances.values()]
        .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
        .sort((a, b) => a.dueAt! - b.dueAt!)
        .slice(0, limit);
      for (const row of due) row.dueAt = Math.floor(tables.clock() + leaseMs);
      return { due: due.map((row) => ({ ...row })), at: readClock(tables) };
    },
    instanceList: ({ tenantId, env, definition, state, after, limit }) =>
      [...messaging.instances.values()]
        .filter((row) => machineKey(row) === machineKey({ tenantId, env, definition }))
        .filter((row) => (state === null || row.state === state) && row.externalRef > after)
        .sort((a, b) => (a.externalRef < b.externalRef ? -1 : 1))
        .slice(0, limit)
        .map((row) => ({ ...row })),
    timelineList({ tenantId, instanceId, after, limit }) {
      if (messaging.instances.get(instanceId)?.tenantId !== tenantId) return [];
      return (messaging.timelines.get(instanceId) ?? [])
        .filter(({ cursor }) => Number(cursor) > Number(after ?? 0))
        .flatMap(({ revision: _revision, activityId: _activityId, kind, ...entry }) =>
          kind === 'no-op' ? [] : [{ kind, ...entry }],
        )
        .slice(0, limit);
    },
    activityAdd: (params) => addActivity(tables, params),
    reactionClaim({ limit, leaseMs }) {
      const now = tables.clock();
      const due = [...messaging.reactions.values()].filter(({ dueAt }) => dueAt <= now).slice(0, limit);
      for (const row of due) row.dueAt = tables.clock() + leaseMs;
      return due.map(({ dueAt: _dueAt, ...reaction }) => reaction);
    },
    reactionSettle({ reactionIds }) {
      for (const id of reactionIds) messaging.reactions.delete(id);
    },
  };
}

type MachineKey = Pick<InstanceKey, 'tenantId' | 'env' | 'definition'>;
const machineKey = ({ tenantId, env, definition }: MachineKey): string => JSON.stringify([tenantId, env, definition]);

function importMachine(
  tables: Tables,
  { tenantId, env, name, checksum, definition, policies }: Parameters<Statements['lifecycleImport']>[0],
): ReturnType<Statements['lifecycleImport']> {
  json(definition);
  const { messaging } = tables;
  const key = machineKey({ tenantId, env, definition: name });
  const versions = messaging.lifecycles.get(key) ?? [];
  if (versions.at(-1)?.checksum === checksum) return { version: versions.length, changed: false };
  const version = versions.length + 1;
  const row = { tenantId, env, name, version, checksum, definition, policies, createdAt: readClock(tables) };
  messaging.lifecycles.set(key, [...versions, row]);
  messaging.generation++;
  return { version, changed: true };
}

function find({ messaging }: Tables, key: InstanceKey): InstanceRow | undefined {
  return [...messaging.instances.values()].find(
    (row) => row.externalRef === key.externalRef && machineKey(row) === machineKey(key),
  );
}

function load(
  tables: Tables,
  key: InstanceKey,
  requestId: string | null,
): ReturnType<Statements['instanceLoad']>[number] {
  const row = find(tables, key);
  if (row === undefined) return null;
  const entry = (tables.messaging.timelines.get(row.instanceId) ?? []).find(
    (other) => other.kind !== 'activity' && other.requestId === requestId,
  );
  if (entry === undefined) return { ...row, seen: null };
  const { event, fromState, toState, revision } = entry;
  return { ...row, seen: { event: event!, fromState: fromState!, toState: toState!, revision } };
}

function apply(tables: Tables, batch: LifecycleBatch): ReturnType<Statements['lifecycleApply']> {
  const { messaging } = tables;
  const { generation, moves, messages, deliveries, reactionsSettled } = batch;
  moves.forEach(checkMove);
  checkSent(messages, deliveries);
  if (generation !== String(messaging.generation)) return { current: false, applied: [], at: readClock(tables) };
  const applied = moves.filter((move) => isPossible(tables, move)).map(({ instanceId }) => instanceId);
  const sent = Map.groupBy(messages, ({ subjectId }) => subjectId);
  for (const move of moves) {
    const guids = sent.get(move.instanceId)?.map(({ ackGuid }) => ackGuid) ?? null;
    if (applied.includes(move.instanceId)) write(tables, move, guids);
  }
  const hasMoved = ({ subjectId }: { subjectId: string }) => applied.includes(subjectId);
  addMessages(tables, messages.filter(hasMoved));
  addDeliveries(tables, deliveries.filter(hasMoved));
  for (const id of reactionsSettled) {
    const reaction = messaging.reactions.get(id);
    if (reaction !== undefined && applied.includes(reaction.instanceId)) messaging.reactions.delete(id);
  }
  return { current: true, applied, at: readClock(tables) };
}

function isPossible(tables: Tables, move: LifecycleMove): boolean {
  const { messaging } = tables;
  if (move.revision === 0) {
    const isMachine = messaging.lifecycles.has(machineKey(move));
    return isMachine && !messaging.instances.has(move.instanceId) && find(tables, move) === undefined;
  }
  const row = messaging.instances.get(move.instanceId);
  const timeline = messaging.timelines.get(move.instanceId) ?? [];
  return row?.revision === move.revision && !timeline.some(({ requestId }) => requestId === move.requestId);
}

function create(
  tables: Tables,
  params: Parameters<Statements['instanceCreate']>[0],
): ReturnType<Statements['instanceCreate']> {
  const { generation, instanceId, version, state, at, dueAt, actor, payload, ...key } = params;
  const { messaging } = tables;
  const current = generation === String(messaging.generation);
  if (!current || find(tables, key) !== undefined || !messaging.lifecycles.has(machineKey(key)))
    return { current, created: false };
  const row = {
    ...key,
    instanceId,
    version,
    state,
    revision: 1,
    stateSince: at,
    timeoutsFired: 0,
    dueAt,
    createdAt: at,
  };
  messaging.instances.set(instanceId, row);
  addEntry(tables, instanceId, {
    ...noTransition,
    ...{ at, kind: 'activity', activityId: instanceId, activity: 'created', status: state, actor, payload },
    ...{ requestId: null, event: null, fromState: null, toState: null },
  });
  return { current, created: true };
}

function stay(tables: Tables, params: Parameters<Statements['instanceStay']>[0]): boolean {
  const { instanceId, revision, requestId, event } = params;
  const row = tables.messaging.instances.get(instanceId);
  const timeline = tables.messaging.timelines.get(instanceId) ?? [];
  if (row?.revision !== revision || timeline.some((entry) => entry.requestId === requestId)) return false;
  const states = { fromState: row.state, toState: row.state };
  const made = { at: readClock(tables), kind: 'no-op', event, requestId, actor: null, payload: null } as const;
  addEntry(tables, instanceId, { ...noActivity, ...noTransition, ...made, ...states });
  return true;
}

function write(tables: Tables, move: LifecycleMove, messages: string[] | null): void {
  const { messaging } = tables;
  const { instanceId, tenantId, env, definition, externalRef, version, event, fromState, toState, at, actor } = move;
  const { stateSince, timeoutsFired, dueAt, requestId, payload, cause } = move;
  const before = messaging.instances.get(instanceId);
  const revision = move.revision + 1;
  const made = { instanceId, tenantId, env, definition, externalRef, version, createdAt: before?.createdAt ?? at };
  messaging.instances.set(instanceId, { ...made, state: toState, revision, stateSince, timeoutsFired, dueAt });
  addEntry(tables, instanceId, {
    ...noActivity,
    at,
    kind: 'transition',
    revision,
    event,
    fromState,
    toState,
    actor: actor === null ? null : readable(actor),
    payload,
    requestId,
    cause,
    messages,
  });
}

const noActivity = { activityId: null, activity: null, status: null };
const noTransition = {
  revision: null,
  event: null,
  fromState: null,
  toState: null,
  requestId: null,
  cause: null,
  messages: null,
};

type Entry = Parameters<NonNullable<ReturnType<Tables['messaging']['timelines']['get']>>['push']>[0];

function addEntry(tables: Tables, instanceId: string, entry: Omit<Entry, 'cursor'>): void {
  const timeline = tables.messaging.timelines.get(instanceId) ?? [];
  timeline.push({ ...entry, cursor: String(tables.nextId++) });
  tables.messaging.timelines.set(instanceId, timeline);
}

function addActivity(tables: Tables, params: Parameters<Statements['activityAdd']>[0]): boolean {
  const { tenantId, instanceId, activityId, activity, status, actor, payload } = params;
  if (tables.messaging.instances.get(instanceId)?.tenantId !== tenantId) return false;
  const known = tables.messaging.timelines.get(instanceId) ?? [];
  if (known.some((entry) => entry.activityId === activityId)) return true;
  addEntry(tables, instanceId, {
    ...noTransition,
    at: readClock(tables),
    kind: 'activity',
    activityId,
    activity,
    status,
    actor,
    payload,
  });
  return true;
}
