// This process's share of Conductor's work: turns (gate, done, finish) and attempts. Conductor delivers at least once and in any
// order. A turn is answered from the state, so a repeated or late task changes nothing. When a worker dies, its heartbeats stop
// and another worker gets the task, which runs the same attempt again (I7).

import { randomUUID } from 'node:crypto';
import { Stop } from '../../action/stop.ts';
import type { Timers } from '../../clock/timers.ts';
import { type ExecutionStatus, isTerminal } from '../../core/decider/state.ts';
import { isUuid } from '../../core/id/id.ts';
import { controlQueue, dataQueue, INFERRED_QUEUES, isQueueAmong } from '../../core/plan/task-queue.ts';
import type { Open } from '../../engine/turn/open.ts';
import { InterruptedAttemptError, type OutsideAttempt, type OutsideTurns } from '../../engine/turn/outside-turn.ts';
import type { ConductorClient, PolledTask, TaskAnswer } from './conductor-client.ts';
import { laneOf, NOOP_TASK, stepTask, TURN_TASK } from './lane-definition.ts';
import { BUSY_POLL_MS, idlePollMs, nextPollMs, type PollKind } from './poll-pace.ts';

export interface ConductorWorkersDeps {
  readonly client: ConductorClient;
  readonly turns: Pick<OutsideTurns, 'advance' | 'runAttempt' | 'lookAt'>;
  /** The run that an execution was handed over to; null: it is over, or was never handed over. */
  readonly ownerOf: (executionId: string, epoch: number) => Promise<string | null>;
  /** The status of an execution; null: no such execution. */
  readonly statusOf: (executionId: string) => Promise<string | null>;
  /** The number of polling loops of this process, for all servers together. */
  readonly loops: Record<PollKind, number>;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  /** Environments with executions. */
  readonly environments: () => Promise<readonly string[]>;
  /** Only attempts of these queues, and no turns; empty: everything. */
  readonly taskQueues: readonly string[];
  readonly maxParallelActions: number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

const BATCH = 50;
/** A worker waits here for work that is due within this time, and polls at this interval. */
const SOON_MS = 1_000;
const SOON_LOOKS = 3;
const PLACES_MS = 5_000;
const HEARTBEAT_MS = 3_000;
const HEARTBEAT_S = 10;
const ANSWER_TRIES = 20;

/** In place of an attempt's number: all open attempts in the items of a loop. */
const ALL_ITEMS = 0;

/** Polls for tasks of one type, less often while there are none. */
interface Loop {
  readonly kind: PollKind;
  done: Promise<void>;
  delayMs: number;
  /** Ends the pause before the next poll. */
  wake: () => void;
}

type Answer = Omit<TaskAnswer, 'taskId' | 'workflowInstanceId'>;

export class ConductorWorkers {
  private readonly deps: ConductorWorkersDeps;
  private readonly workerId = `pawl-${randomUUID()}`;
  private readonly loops = new Map<string, Loop>();
  private readonly running = new Set<Stop>();
  private readonly working = new Set<Promise<void>>();
  private stopped = false;
  private cancelLook: () => void = () => {};

  constructor(deps: ConductorWorkersDeps) {
    this.deps = deps;
  }

  async start(): Promise<void> {
    const { taskQueues } = this.deps;
    if (taskQueues.length > 0) {
      for (const queue of taskQueues) this.poll(stepTask(queue), 'step', (task) => this.attempt(task));
      return;
    }
    this.poll(TURN_TASK, 'turn', (task) => this.turn(task));
    this.poll(NOOP_TASK, 'step', () => Promise.resolve({ status: 'COMPLETED' }));
    await this.lookForPlaces();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelLook();
    for (const stop of this.running) stop.abort(new Error('the worker stops'));
    await Promise.allSettled([...this.loops.values()].map(({ done }) => done));
    await Promise.allSettled(this.working);
  }

  private async lookForPlaces(): Promise<void> {
    const { environments, timers } = this.deps;
    const found = await environments().catch(() => []);
    for (const environment of new Set(['default', ...found])) {
      for (const queue of [controlQueue(environment), dataQueue(environment)]) {
        this.poll(stepTask(queue), 'step', (task) => this.attempt(task));
      }
    }
    if (!this.stopped) this.cancelLook = timers.after(PLACES_MS, () => void this.lookForPlaces());
  }

  private poll(taskType: string, kind: PollKind, work: (task: PolledTask) => Promise<Answer>): void {
    if (this.loops.has(taskType)) return;
    const loop: Loop = { kind, done: Promise.resolve(), delayMs: BUSY_POLL_MS, wake: () => {} };
    this.deps.loops[kind]++;
    this.loops.set(taskType, loop);
    loop.done = this.ask(taskType, loop, work);
  }

  /** A task of this type is about to come, and the next poll would be too late. */
  hint(taskType: string): void {
    const loop = this.loops.get(taskType);
    if (loop === undefined) return;
    loop.delayMs = BUSY_POLL_MS;
    loop.wake();
  }

  /** The same, also for an environment without loops here. */
  private expect(taskType: string): void {
    const isServed = isQueueAmong(INFERRED_QUEUES.map(stepTask), taskType);
    if (isServed && this.deps.taskQueues.length === 0) this.poll(taskType, 'step', (task) => this.attempt(task));
    this.hint(taskType);
  }

  private async ask(taskType: string, loop: Loop, work: (task: PolledTask) => Promise<Answer>): Promise<void> {
    const { client, maxParallelActions, warn, loops } = this.deps;
    const { kind } = loop;
    let isDown = false;
    while (!this.stopped) {
      const room = Math.min(BATCH, maxParallelActions - this.working.size);
      try {
        // Without room there is no poll, and the pace does not slow down.
        const tasks = room <= 0 ? [] : await client.poll(taskType, room, this.workerId);
        for (const task of tasks) this.take(task, work);
        loop.delayMs = room <= 0 ? BUSY_POLL_MS : nextPollMs(loop.delayMs, tasks.length, kind, loops);
        isDown = false;
      } catch (error) {
        if (!isDown) warn('Conductor does not give out tasks; asking again', { taskType, error: String(error) });
        isDown = true;
        loop.delayMs = idlePollMs(kind, loops);
      }
      await this.pause(loop.delayMs, loop);
    }
  }

  private take(task: PolledTask, work: (task: PolledTask) => Promise<Answer>): void {
    const { warn } = this.deps;
    const done = work(task)
      .then((answer) => this.reply(task, answer))
      .catch((error: unknown) => {
        // Without an answer Conductor hands the task out again.
        if (!(error instanceof InterruptedAttemptError))
          warn('a task of Conductor failed; it comes again', { taskId: task.taskId, error: String(error) });
      });
    this.working.add(done);
    void done.finally(() => this.working.delete(done));
  }

  /** Retries across restarts of the server: the work is done, and only the answer is missing. */
  private async reply({ taskId, workflowInstanceId }: PolledTask, answer: Answer): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.deps.client.answer({ taskId, workflowInstanceId, ...answer });
        // The next task in the lane: an attempt after a gate, a turn after an attempt.
        this.expect(String(answer.outputData?.taskType ?? TURN_TASK));
        return;
      } catch (error) {
        if (tries === ANSWER_TRIES || this.stopped) throw error;
        await this.pause(Math.min(100 * 2 ** tries, 5_000));
      }
    }
  }

  // ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  private async turn(task: PolledTask): Promise<Answer> {
    const { executionId, epoch, kind, node } = task.inputData as Record<string, unknown>;
    const run = { executionId: String(executionId), epoch: Number(epoch) };
    if (!isUuid(run.executionId)) return this.refuse(task, run, UNKNOWN);
    if (!(await this.isOwned(task, run))) return this.refuse(task, run, ABANDONED);
    const name = node === null || node === undefined ? null : String(node);
    const { open, isSettled } = await this.lookUntilDue(run, name);
    if (open.ended === true) return this.over(task, run, kind === 'finish');
    if (kind === 'finish') return this.hold(task, open);
    if (kind === 'done') return { status: 'COMPLETED', outputData: { again: !isSettled } };
    return this.gate(task, open, name, isSettled);
  }

  /**
   * The execution has ended. Conductor learns it here, even if it was away at that time: the run of a cancelled execution is
   * terminated, any other ends without running anything more.
   */
  private async over(
    task: PolledTask,
    run: { executionId: string; epoch: number },
    isFinish: boolean,
  ): Promise<Answer> {
    const status = await this.deps.statusOf(run.executionId);
    if (status === null) return this.refuse(task, run, UNKNOWN);
    if (!isTerminal(status as ExecutionStatus)) return this.refuse(task, run, ABANDONED);
    if (status === 'Cancelled')
      await this.deps.client.terminate(task.workflowInstanceId, 'The execution was cancelled');
    if (isFinish && status !== 'Succeeded') return terminally(`The execution ended as ${status}`);
    return { status: 'COMPLETED', outputData: { taskType: NOOP_TASK, again: false } };
  }

  private refuse({ workflowInstanceId }: PolledTask, run: object, reason: string): Answer {
    const workflowId = workflowInstanceId;
    this.deps.warn('a run of Conductor is told to end', { ...run, workflowId, reason });
    return terminally(reason);
  }

  /** Waits here for something that is due in a moment: Conductor would come back after a second at the earliest. */
  private async lookUntilDue(run: { executionId: string; epoch: number }, node: string | null) {
    for (let patience = SOON_LOOKS; ; patience--) {
      const found = await this.deps.turns.lookAt(run, node);
      const { open, isSettled } = found;
      const hasWork = open.attempts.some(({ nodeId }) => node === null || laneOf(nodeId) === node);
      const waitMs = (open.nextDueAt ?? Number.POSITIVE_INFINITY) - this.deps.wallClockMs();
      if (open.ended === true || isSettled || hasWork || waitMs > SOON_MS || patience === 0) return found;
      await this.pause(Math.max(1, waitMs));
    }
  }

  private async gate(task: PolledTask, open: Open, node: string | null, isSettled: boolean): Promise<Answer> {
    if (isSettled) return { status: 'COMPLETED', outputData: { taskType: NOOP_TASK } };
    const found =
      node === null ? await this.stray(task, open) : open.attempts.find(({ nodeId }) => laneOf(nodeId) === node);
    if (found === undefined) return this.hold(task, open);
    const { taskQueue, nodeId } = found;
    const lane = laneOf(nodeId);
    const attempt = lane === nodeId ? found.attempt : ALL_ITEMS;
    return { status: 'COMPLETED', outputData: { taskType: stepTask(taskQueue), node: lane, attempt } };
  }

  /** An attempt whose lane has ended, because its node was retried while the rest of the execution goes on. */
  private async stray(
    { workflowInstanceId }: PolledTask,
    { attempts }: Open,
  ): Promise<Open['attempts'][number] | undefined> {
    if (attempts.length === 0) return undefined;
    const ended = await this.deps.client.endedLanes(workflowInstanceId);
    return attempts.find(({ nodeId }) => ended.has(laneOf(nodeId)));
  }

  /** Waits without a worker: until a known time, or with a look every few seconds. */
  private hold({ scheduledTime }: PolledTask, { nextDueAt }: Open): Answer {
    const now = this.deps.wallClockMs();
    const isYoung = scheduledTime === undefined || now - scheduledTime < 15_000;
    const patienceS = isYoung ? 1 : 5;
    const dueS = nextDueAt === undefined ? patienceS : Math.max(0, Math.ceil((nextDueAt - now) / 1_000));
    return { status: 'IN_PROGRESS', callbackAfterSeconds: Math.max(1, Math.min(dueS, patienceS)) };
  }

  /** If an execution has two runs, the recorded one counts. Before one is recorded, the owner is unknown. */
  private async isOwned({ workflowInstanceId }: PolledTask, run: { executionId: string; epoch: number }) {
    const owner = await this.deps.ownerOf(run.executionId, run.epoch);
    return owner === null || owner === workflowInstanceId;
  }

  // ── Attempts ──────────────────────────────────────────────────────────────────────────────────────────────────────

  private async attempt(task: PolledTask): Promise<Answer> {
    const { executionId, epoch, node, attempt } = task.inputData as Record<string, unknown>;
    const run = { executionId: String(executionId), epoch: Number(epoch) };
    const endBeats = this.heartbeat(task);
    try {
      if (Number(attempt) === ALL_ITEMS) await this.items(run, String(node), task.taskType);
      else await this.runAttempt({ ...run, nodeId: String(node), attempt: Number(attempt) });
      return { status: 'COMPLETED', outputData: {} };
    } finally {
      endBeats();
    }
  }

  /** Runs all open attempts of a loop's items on this queue, and those that follow, until none is left. */
  private async items(run: { executionId: string; epoch: number }, loop: string, taskType: string): Promise<void> {
    const taken = new Map<string, Promise<void>>();
    const failures: unknown[] = [];
    const take = ({ attempts }: Open): void => {
      for (const { nodeId, attempt, taskQueue } of attempts) {
        const name = `${nodeId}:${attempt}`;
        if (laneOf(nodeId) !== loop || stepTask(taskQueue) !== taskType || taken.has(name)) continue;
        const done = this.runAttempt({ ...run, nodeId, attempt }).then(take, (error) => void failures.push(error));
        taken.set(name, done);
      }
    };
    take(await this.deps.turns.advance(run));
    for (const done of taken.values()) await done;
    if (failures.length > 0) throw failures[0];
  }

  private async runAttempt(asked: OutsideAttempt): Promise<Open> {
    const stop = new Stop();
    this.running.add(stop);
    try {
      return await this.deps.turns.runAttempt(asked, stop);
    } finally {
      this.running.delete(stop);
    }
  }

  /** Reports that this worker lives. The turn service notices when an attempt is no longer wanted. */
  private heartbeat({ taskId, workflowInstanceId }: PolledTask): () => void {
    const { client, timers } = this.deps;
    let cancel = () => {};
    let isOver = false;
    const beat = async (): Promise<void> => {
      const alive = { taskId, workflowInstanceId, status: 'IN_PROGRESS', callbackAfterSeconds: HEARTBEAT_S } as const;
      await client.answer(alive).catch(() => undefined);
      if (!isOver) cancel = timers.after(HEARTBEAT_MS, () => void beat());
    };
    cancel = timers.after(HEARTBEAT_MS, () => void beat());
    return () => {
      isOver = true;
      cancel();
    };
  }

  private pause(ms: number, loop?: Loop): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.deps.timers.after(ms, resolve);
      if (loop === undefined) return;
      loop.wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

const ABANDONED = 'Another run owns this execution, or the execution was reopened as a new run';
const UNKNOWN = 'Pawl does not know this execution: it belongs to another installation, or was removed';

const terminally = (reasonForIncompletion: string): Answer => ({
  status: 'FAILED_WITH_TERMINAL_ERROR',
  reasonForIncompletion,
});
