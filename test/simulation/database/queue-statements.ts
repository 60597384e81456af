// Statements that make waiting executions ready, and the mailbox. See src/store/postgres/execution/queue.sql and inbox.sql.

import { REOPENING_KEY } from '../../../src/core/decider/signal-type.ts';
import { CANCEL_LANE } from '../../../src/store/port.ts';
import { checkMessage } from './column.ts';
import {
  EXTERNAL,
  isHeld,
  liveRunner,
  mailOf,
  OWNED,
  PARKED,
  putMail,
  type QueueRow,
  READY,
  type Statements,
  type Tables,
  takeUpAgain,
  wake,
} from './tables.ts';

type QueueStatements = Pick<
  Statements,
  'queueWake' | 'queueWakeMail' | 'queueLanes' | 'queueAudit' | 'inboxSend' | 'inboxRead' | 'signalKnown'
>;

export function queueStatements(tables: Tables): QueueStatements {
  return {
    queueWake({ limit, readyForMs = 0 }) {
      const now = tables.clock();
      const hasReady = [...tables.queue.values()].some(
        ({ state, readyAt }) => state === READY && readyAt <= now - readyForMs,
      );
      const hasMail = [...tables.inbox.values()].some((mail) => mail.length > 0);
      const due = [...tables.queue.values()]
        .filter((row) => row.state === PARKED && row.dueAt !== null && row.dueAt <= now)
        .sort((a, b) => a.dueAt! - b.dueAt!)
        .slice(0, limit);
      for (const row of due) wake(tables, row);
      const later = [...tables.queue.values()].flatMap((row) =>
        row.state === PARKED && row.dueAt !== null && row.dueAt > now ? [row.dueAt] : [],
      );
      return { woken: due.length, nextDueAt: later.length === 0 ? null : Math.min(...later), hasReady, hasMail };
    },
    queueWakeMail({ limit }) {
      const rows = [...tables.queue.values()]
        .filter((row) =>
          row.state === PARKED && !isHeld(row) ? mailOf(tables, row.executionId).length > 0 : isToCancel(tables, row),
        )
        .slice(0, limit);
      for (const row of rows) {
        if (isToCancel(tables, row)) row.priority = CANCEL_LANE;
        wake(tables, row);
      }
      return rows.length + dealWithStrayMail(tables);
    },
    queueLanes: ({ limit, after = null }) =>
      lanes(tables)
        .filter((lane) => after === null || isBehind(lane, after))
        .slice(0, limit),
    queueAudit: () => audit(tables),
    inboxSend({ message, tenantId }) {
      checkMessage(message);
      const row = tables.queue.get(message.executionId);
      if (row === undefined || row.tenantId !== tenantId)
        return { live: false, fresh: false, owner: null, isExternal: false };
      if (row.state === PARKED && (!isHeld(row) || message.kind === 'cancel')) wake(tables, row);
      if (message.kind === 'cancel' && row.runnerId === null && row.state !== EXTERNAL) {
        row.priority = CANCEL_LANE;
        row.readyAt = tables.clock();
      }
      const isExternal = row.state === EXTERNAL;
      return { live: true, fresh: admit(tables, message), owner: row.runnerId, isExternal };
    },
    inboxRead: ({ executionIds }) =>
      executionIds.flatMap((id) => mailOf(tables, id).map(({ at: _at, ...message }) => message)),
    signalKnown: ({ tenantId, executionId, key }) =>
      tables.executions.get(executionId)?.tenantId === tenantId && tables.signals.get(executionId)?.has(key) === true,
  };
}

/** The execution waits in the backlog or is parked, and a cancel has arrived for it. */
function isToCancel(tables: Tables, { executionId, state, priority }: QueueRow): boolean {
  if (state === OWNED || state === EXTERNAL || priority === CANCEL_LANE) return false;
  return mailOf(tables, executionId).some(({ kind }) => kind === 'cancel');
}

/** Mail of executions that have ended: an accepted repair reopens the execution, and the rest is thrown away in time. */
function dealWithStrayMail(tables: Tables): number {
  let reopened = 0;
  for (const [executionId, mail] of tables.inbox) {
    if (tables.queue.has(executionId)) continue;
    if (mail.some(isRetry) && tables.outcomes.delete(executionId)) {
      takeUpAgain(tables, executionId);
      reopened++;
    }
    const kept = mail.filter((message) => isRetry(message) || message.at >= tables.clock() - STRAY_MAIL_MS);
    if (kept.length === 0) tables.inbox.delete(executionId);
    else tables.inbox.set(executionId, kept);
  }
  return reopened;
}

const STRAY_MAIL_MS = 10_000;

const REOPENS = new RegExp(REOPENING_KEY);

export function isRetry({ kind, key }: { readonly kind: string; readonly key: string }): boolean {
  return kind === 'signal' && REOPENS.test(key);
}

/** A signal that was seen before is not taken again, even after it was consumed (I10). */
function admit(tables: Tables, message: Parameters<typeof putMail>[1]): boolean {
  if (message.kind !== 'signal') return putMail(tables, message);
  const seen = tables.signals.get(message.executionId) ?? new Set();
  tables.signals.set(message.executionId, seen);
  if (seen.has(message.key)) return false;
  seen.add(message.key);
  return putMail(tables, message);
}

function isBehind(lane: LaneName, after: LaneName): boolean {
  return lane.tenantId === after.tenantId ? lane.priority > after.priority : lane.tenantId > after.tenantId;
}

type LaneName = { readonly tenantId: string; readonly priority: number };

function lanes(tables: Tables): ReturnType<Statements['queueLanes']> {
  const oldest = new Map<string, { tenantId: string; priority: number; oldestReadyAt: number }>();
  for (const { state, tenantId, priority, readyAt } of tables.queue.values()) {
    if (state !== READY) continue;
    const key = `${priority}:${tenantId}`;
    const lane = oldest.get(key);
    if (lane === undefined || lane.oldestReadyAt > readyAt) {
      oldest.set(key, { tenantId, priority, oldestReadyAt: Math.floor(readyAt) });
    }
  }
  return [...oldest.values()].sort(
    (a, b) => (a.tenantId < b.tenantId ? -1 : a.tenantId > b.tenantId ? 1 : 0) || a.priority - b.priority,
  );
}

function audit(tables: Tables): { executionId: string; problem: string }[] {
  const found: { executionId: string; problem: string }[] = [];
  for (const executionId of tables.executions.keys()) {
    if (tables.queue.has(executionId) || tables.outcomes.has(executionId)) continue;
    found.push({ executionId, problem: 'neither in the queue nor ended' });
  }
  for (const { executionId, state, runnerId } of tables.queue.values()) {
    const add = (problem: string) => found.push({ executionId, problem });
    if (tables.outcomes.has(executionId)) add('ended, and still in the queue');
    if (!tables.executions.has(executionId)) add('in the queue without an execution');
    if (state === EXTERNAL && (tables.externalRuns.get(executionId)?.lookAt ?? null) === null) {
      add('external, and nobody looks after it');
    }
    const owners = [...tables.slots.values()].filter((slot) => slot.runnerId === runnerId);
    if (state === OWNED && !owners.some((slot) => liveRunner(tables, slot.id) !== null)) {
      add('owned by a runner that is not live');
    }
  }
  return found;
}
