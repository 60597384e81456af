// Attempts that wait for workers, on PostgreSQL.

import type { JsonText, Timestamp } from '../../port.ts';
import { type LeasedAttempt, MOST_TAKES, type TaskQueueInfo, type TaskQueueStore } from '../../task-queue-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const ADD = statement('attempt_queue_add');
const TAKE = statement('attempt_queue_take');
const BEAT = statement('attempt_queue_beat');
const HELD = statement('attempt_queue_held');
const COMPLETE = statement('attempt_queue_complete');
const RELEASE = statement('attempt_queue_release');
const HOLD = statement('attempt_queue_hold');
const STOP = statement('attempt_queue_stop');
const DROP = statement('attempt_queue_drop');
const OVERDUE = statement('attempt_queue_overdue');
const TIDY = statement('attempt_queue_tidy');
const LEAVE = statement('task_queue_worker_leave');
const LIST = statement('task_queue_list');

/** After its timeout a worker has this long to report. */
const TIMEOUT_GRACE_MS = 10_000;

export function taskQueueStore(engine: Database, reader: Database): TaskQueueStore {
  return {
    async attemptQueueAdd({ attempts }) {
      const column = <Value>(of: (attempt: (typeof attempts)[number]) => Value) => attempts.map(of);
      await engine.run(ADD, [
        column(({ executionId }) => executionId),
        column(({ nodeId }) => nodeId),
        column(({ attempt }) => attempt),
        column(({ tenantId }) => tenantId),
        column(({ taskQueue }) => taskQueue),
        column(({ priority }) => priority),
        column(({ workerPool }) => workerPool),
        column(({ runtime }) => runtime),
        column(({ resourceClass }) => resourceClass),
        column(({ request }) => request),
        column(({ timeoutMs }) => timeoutMs),
        column(({ epoch }) => epoch),
      ]);
    },
    async attemptQueueTake({ taskQueues, worker, tenantId, limit, leaseMs, slots, busy, ...offer }) {
      const { workerPool = null, runtime = null, resourceClass = null } = offer;
      const who = [[...taskQueues], worker, tenantId, limit, leaseMs, slots, busy];
      const rows = await engine.run<LeasedRow>(TAKE, [...who, workerPool, runtime, resourceClass, MOST_TAKES]);
      return rows.map(leased);
    },
    async attemptQueueBeat({ leaseIds, tenantId, leaseMs }) {
      return engine.run<BeatRow>(BEAT, [[...leaseIds], tenantId, leaseMs, TIMEOUT_GRACE_MS]);
    },
    async attemptQueueHeld({ leaseId, tenantId }) {
      const [row] = await engine.run<LeasedRow>(HELD, [leaseId, tenantId]);
      return row === undefined ? null : leased(row);
    },
    async attemptQueueComplete({ leaseId, messageId, body }) {
      const [row] = await engine.run<{ executionId: string; live: boolean }>(COMPLETE, [leaseId, messageId, body]);
      return row ?? null;
    },
    async attemptQueueRelease({ leaseIds }) {
      const rows = await engine.run<{ taskQueue: string }>(RELEASE, [[...leaseIds]]);
      return rows.map((row) => row.taskQueue);
    },
    async attemptQueueHold({ leaseId, waitMs }) {
      await engine.run(HOLD, [leaseId, Math.ceil(waitMs)]);
    },
    async attemptQueueStop({ attempts }) {
      return engine.run<{ executionId: string; nodeId: string; attempt: number }>(STOP, [
        attempts.map(({ executionId }) => executionId),
        attempts.map(({ nodeId }) => nodeId),
        attempts.map(({ attempt }) => attempt),
      ]);
    },
    async attemptQueueDrop({ executionIds }) {
      await engine.run(DROP, [[...executionIds]]);
    },
    attemptQueueOverdue: async () => (await engine.run<LeasedRow>(OVERDUE, [MOST_TAKES])).map(leased),
    async attemptQueueTidy() {
      await engine.run(TIDY, []);
    },
    async workerLeave({ taskQueues, worker, tenantId }) {
      await engine.run(LEAVE, [[...taskQueues], worker, tenantId]);
    },
    async taskQueueList({ tenantId }) {
      const rows = await reader.run<QueueRow>(LIST, [tenantId]);
      return rows.map((row) => ({ ...row, workers: JSON.parse(row.workers) as TaskQueueInfo['workers'] }));
    },
  };
}

const leased = ({ timeoutMs, ...row }: LeasedRow): LeasedAttempt => ({
  ...row,
  timeoutMs: timeoutMs === null ? null : Number(timeoutMs),
});

/** PostgreSQL gives a bigint as text. */
interface LeasedRow extends Omit<LeasedAttempt, 'timeoutMs'> {
  timeoutMs: string | null;
}

interface BeatRow {
  leaseId: string;
  isStopped: boolean;
  leaseUntil: Timestamp;
}

interface QueueRow extends Omit<TaskQueueInfo, 'workers'> {
  workers: JsonText;
}
