// Executions: start, claim, load, park, release, reopen. See src/store/postgres/execution/execution.sql.

import {
  MANY_CRASHES,
  type NewExecution,
  type OwnedExecution,
  type ParkItem,
  type StartOutcome,
  SUSPICIOUS_CRASHES,
} from '../../../src/store/port.ts';
import { checkExecution, json, refuse } from './column.ts';
import { ownedBy } from './runner-statements.ts';
import {
  addToQueue,
  liveRunner,
  mailOf,
  makeReady,
  OWNED,
  PARKED,
  putMail,
  type QueueRow,
  READY,
  readClock,
  type Statements,
  type Tables,
  takeUpAgain,
  wake,
} from './tables.ts';

type ExecutionStatements = Pick<
  Statements,
  | 'executionStart'
  | 'executionStartOwned'
  | 'executionClaim'
  | 'executionLoad'
  | 'executionLoadBytes'
  | 'executionInputs'
  | 'executionPark'
  | 'parkCheck'
  | 'executionRelease'
  | 'executionListOwned'
  | 'executionReopen'
>;

export function executionStatements(tables: Tables): ExecutionStatements {
  return {
    executionStart({ items }) {
      items.forEach(checkExecution);
      return items.map((item) => start(tables, item));
    },
    executionStartOwned({ slotId, items }) {
      items.forEach(checkExecution);
      const runnerId = liveRunner(tables, slotId);
      const owned: string[] = [];
      const outcomes = items.map((item) => {
        const isNew = !tables.executions.has(item.executionId);
        const outcome = start(tables, item);
        const row = tables.queue.get(item.executionId);
        if (isNew && runnerId !== null && row !== undefined && row.state === READY) {
          Object.assign(row, { state: OWNED, runnerId, epoch: 1 });
          owned.push(item.executionId);
        }
        return outcome;
      });
      return { outcomes, owned, at: readClock(tables) };
    },
    executionClaim: (params) => claim(tables, params),
    executionLoad: ({ executionIds, deciderVersion }) =>
      executionIds.flatMap((id) => load(tables, id, deciderVersion) ?? []),
    executionLoadBytes: ({ executionIds }) =>
      executionIds.flatMap((executionId) => {
        const loaded = load(tables, executionId, 0);
        return loaded === undefined ? [] : [{ executionId, bytes: JSON.stringify(loaded).length }];
      }),
    executionInputs: ({ items }) =>
      items.flatMap(({ executionId, seq: wanted }) =>
        (tables.events.get(executionId) ?? [])
          .filter(({ seq }) => seq === wanted)
          .map(({ seq, inputs }) => ({ executionId, seq, inputs })),
      ),
    executionPark({ slotId, items }) {
      const mine = items.filter((item) => ownedBy(tables, slotId, item.executionId) && isThatClaim(tables, item));
      mine.forEach(checkPark);
      for (const item of mine) park(tables, item);
      return { parked: mine.map(({ executionId }) => executionId), at: readClock(tables) };
    },
    parkCheck({ executionIds }) {
      const rows = executionIds
        .flatMap((id) => tables.queue.get(id) ?? [])
        .filter((row) => row.state === PARKED && mailOf(tables, row.executionId).length > 0);
      for (const row of rows) wake(tables, row);
      return rows.map(({ executionId }) => executionId);
    },
    executionRelease({ slotId, items }) {
      const mine = items.filter((item) => ownedBy(tables, slotId, item.executionId) && isThatClaim(tables, item));
      for (const { executionId } of mine) makeReady(tables, tables.queue.get(executionId)!);
      return mine.map(({ executionId }) => executionId);
    },
    executionListOwned: ({ runnerId }) =>
      [...tables.queue.values()]
        .filter((row) => row.state === OWNED && row.runnerId === runnerId)
        .map(({ executionId, epoch }) => ({ executionId, epoch }))
        .sort((a, b) => (a.executionId < b.executionId ? -1 : 1)),
    executionReopen: (params) => reopen(tables, params),
  };
}

/** I5: the claim that the caller means, and not a later one. */
function isThatClaim(tables: Tables, { executionId, epoch }: OwnedExecution): boolean {
  return epoch === null || tables.queue.get(executionId)?.epoch === epoch;
}

function start(tables: Tables, item: NewExecution): StartOutcome {
  const { executionId, tenantId, requestId } = item;
  if (tables.executions.has(executionId)) return { executionId, existing: null };
  const rival = requestId === null ? undefined : tables.requests.get(requestKey(tenantId, requestId));
  if (rival !== undefined) {
    return { executionId, existing: { executionId: rival, workflowId: tables.executions.get(rival)!.workflowId } };
  }
  addExecution(tables, item);
  return { executionId, existing: null };
}

export function addExecution(tables: Tables, item: NewExecution): void {
  const row = { ...item, behaviour: item.behaviour ?? 1 };
  if (item.driver !== undefined && item.driver !== null) {
    const lookAt = tables.clock();
    const run = { driver: item.driver, ref: null, refEpoch: null, lookAt, failures: 0, lastError: null };
    tables.externalRuns.set(item.executionId, run);
  }
  tables.executions.set(item.executionId, row);
  if (item.requestId !== null) tables.requests.set(requestKey(item.tenantId, item.requestId), item.executionId);
  addToQueue(tables, row);
}

export function requestKey(tenantId: string, requestId: string): string {
  return JSON.stringify([tenantId, requestId]);
}

function claim(
  tables: Tables,
  params: Parameters<Statements['executionClaim']>[0],
): ReturnType<Statements['executionClaim']> {
  const {
    slotId,
    lanes,
    perLane,
    limit,
    behaviour,
    maxCrashes = MANY_CRASHES,
    suspects,
    alone = false,
    except = [],
  } = params;
  const lastChance = suspects?.lastChance ?? MANY_CRASHES;
  const runnerId = liveRunner(tables, slotId);
  const at = readClock(tables);
  if (runnerId === null) return { claimed: [], leftAlone: null, at };
  const picked: QueueRow[] = [];
  for (const lane of lanes) {
    const ready = [...tables.queue.values()]
      .filter(
        (row) =>
          row.state === READY &&
          row.tenantId === lane.tenantId &&
          row.priority === lane.priority &&
          row.readyAt > lane.mark &&
          row.behaviour <= behaviour &&
          row.crashes <= maxCrashes &&
          (!alone || row.crashes === lastChance) &&
          (!except.some(({ tenantId, workflowId }) => row.tenantId === tenantId && row.workflowId === workflowId) ||
            mailOf(tables, row.executionId).length > 0),
      )
      .sort((a, b) => a.readyAt - b.readyAt);
    picked.push(...ready.slice(0, perLane));
  }
  tables.epochsGiven++;
  const found = picked.slice(0, limit);
  const left = alone ? [] : found.filter(({ crashes }) => crashes === lastChance);
  const others = found.filter((row) => !left.includes(row));
  const claimed = withoutIdleSuspects(others, suspects?.atMost ?? MANY_CRASHES).map((row) => {
    Object.assign(row, { state: OWNED, runnerId, epoch: row.epoch + 1, dueAt: null });
    const { executionId, epoch, tenantId, workflowId, version, priority, crashes, readyAt } = row;
    const isFresh = epoch === 1 && mailOf(tables, executionId).length === 0;
    const execution = isFresh ? load(tables, executionId, 0)! : null;
    const place = { executionId, epoch, tenantId, workflowId, version, priority };
    return { ...place, crashes, readyAt: Math.floor(readyAt), execution };
  });
  const [waits] = left;
  const leftAlone = waits === undefined ? null : { tenantId: waits.tenantId, priority: waits.priority };
  return { claimed, leftAlone, at };
}

/** Of the executions that may have crashed their runners, only as many as will run. */
function withoutIdleSuspects(picked: QueueRow[], atMost: number): QueueRow[] {
  const suspects = picked.filter(({ crashes }) => crashes >= SUSPICIOUS_CRASHES).sort((a, b) => a.crashes - b.crashes);
  return [...picked.filter(({ crashes }) => crashes < SUSPICIOUS_CRASHES), ...suspects.slice(0, atMost)];
}

function load(
  tables: Tables,
  executionId: string,
  deciderVersion: number,
): ReturnType<Statements['executionLoad']>[number] | undefined {
  const execution = tables.executions.get(executionId);
  if (execution === undefined) return undefined;
  const saved = tables.checkpoints.get(executionId);
  const checkpoint = saved?.deciderVersion === deciderVersion ? { seq: saved.seq, state: saved.state } : null;
  const attempts = [...(tables.attempts.get(executionId)?.values() ?? [])].filter(
    ({ outputs, status }) => outputs !== null && ['Succeeded', 'Failed', 'TimedOut'].includes(status),
  );
  return {
    ...execution,
    checkpoint,
    journal: (tables.events.get(executionId) ?? [])
      .filter(({ seq }) => seq >= (checkpoint?.seq ?? 0))
      .map(({ seq, at, facts }) => ({ seq, at, facts })),
    attempts: attempts.map(({ nodeId, attempt, outputs }) => ({ nodeId, attempt, outputs })),
    inbox: mailOf(tables, executionId).map(({ id, kind, key, body }) => ({ id, kind, key, body })),
  };
}

function checkPark({ dueAt, waits, checkpoint }: ParkItem): void {
  if (dueAt === null && waits <= 0) refuse('queue_parked_has_wakeup');
  if (checkpoint !== null) json(checkpoint.state);
}

function park(tables: Tables, { executionId, dueAt, waits, paused, checkpoint }: ParkItem): void {
  Object.assign(tables.queue.get(executionId)!, { state: PARKED, runnerId: null, dueAt, waits, paused });
  if (checkpoint !== null) tables.checkpoints.set(executionId, { ...checkpoint });
}

function reopen(
  tables: Tables,
  { tenantId, executionId, message, more = [] }: Parameters<Statements['executionReopen']>[0],
): { reopened: boolean } {
  if (tables.outcomes.get(executionId)?.tenantId !== tenantId) return { reopened: false };
  if (message?.kind === 'signal') {
    const seen = tables.signals.get(executionId) ?? new Set();
    if (seen.has(message.key)) return { reopened: false };
    tables.signals.set(executionId, seen.add(message.key));
  }
  tables.outcomes.delete(executionId);
  takeUpAgain(tables, executionId);
  if (message !== null) putMail(tables, message);
  for (const further of more) {
    tables.signals.set(executionId, (tables.signals.get(executionId) ?? new Set()).add(further.key));
    putMail(tables, further);
  }
  return { reopened: true };
}
