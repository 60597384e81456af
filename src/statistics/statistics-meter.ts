// Counts the outcomes of executions and attempts in memory, and writes them every ten seconds, outside the commit. A killed
// process loses its unwritten counts. An execution that was reopened and ends twice counts twice.

import { createHash } from 'node:crypto';
import type { AttemptRequest, AttemptResult, RunAttempt } from '../action/attempt.ts';
import type { Timers } from '../clock/timers.ts';
import type { State } from '../core/decider/state.ts';
import { shownVersion } from '../core/plan/shown-version.ts';
import type { NewExecution } from '../store/port.ts';
import type { ActionStat, ExecutionStat, FailureStat, StatCounts, StatisticsStore } from '../store/statistics-port.ts';
import { bucketOf, DURATION_BOUNDS_MS, emptyHistogram, WAIT_BOUNDS_MS } from './histogram.ts';

export interface StatisticsMeterDeps {
  readonly store: Pick<StatisticsStore, 'statsAdd' | 'statsPurge'>;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

export interface EndedForStatistics {
  readonly execution: NewExecution;
  readonly status: string;
  readonly state: State | null;
}

const WRITE_EVERY_MS = 10_000;
const PURGE_EVERY_MS = 3_600_000;
const MINUTE_MS = 60_000;
const FAILURE_STEP_MS = 5 * MINUTE_MS;
/** Bounds the memory while the database is away; counts above it are dropped. */
const MAX_HELD = 20_000;
const MAX_MESSAGE = 300;

export class StatisticsMeter {
  private readonly deps: StatisticsMeterDeps;
  private executions = new Map<string, ExecutionStat>();
  private actions = new Map<string, ActionStat>();
  private failures = new Map<string, FailureStat>();
  /** The last entry of each kind, which is often the next one too. */
  private lastExecution: ExecutionStat | null = null;
  private lastAction: ActionStat | null = null;
  private cancelTimer: (() => void) | null = null;
  private writing: Promise<void> = Promise.resolve();
  private purgedAt = 0;

  constructor(deps: StatisticsMeterDeps) {
    this.deps = deps;
  }

  accepted(execution: NewExecution): void {
    const stat = this.executionStat(execution);
    if (stat !== null) stat.started++;
  }

  ended({ execution, status, state }: EndedForStatistics): void {
    const stat = this.executionStat(execution);
    if (stat === null) return;
    // A child is accepted by its parent's commit, where nothing is counted.
    if (execution.parentId !== null) stat.started++;
    countStatus(stat, status);
    if (state === null) return;
    const startedAt = state.startedAt ?? state.at;
    observe(stat, state.at - startedAt, startedAt - execution.createdAt);
    if (status !== 'Succeeded' || state.plan.format === 'pipeline') this.countFailures(execution, status, state);
  }

  /** Wraps a runner of attempts so that they are counted. */
  measure(run: RunAttempt): RunAttempt {
    return (request) => {
      const startedAt = this.deps.wallClockMs();
      const outcome = run(request);
      if (!(outcome instanceof Promise)) return this.attemptEnded(request, outcome, startedAt);
      return outcome.then((result) => this.attemptEnded(request, result, startedAt));
    };
  }

  /** Writes what is in memory. */
  async flush(): Promise<void> {
    await this.writing;
    await this.write();
  }

  async stop(): Promise<void> {
    this.cancelTimer?.();
    await this.flush();
  }

  private attemptEnded(request: AttemptRequest, result: AttemptResult, startedAt: number): AttemptResult {
    const now = this.deps.wallClockMs();
    const stat = this.actionStat(request, minuteOf(now));
    if (stat === null) return result;
    stat.started++;
    countStatus(stat, attemptStatus(result));
    observe(stat, now - startedAt, null);
    return result;
  }

  private actionStat({ tenantId, actionType }: AttemptRequest, at: number): ActionStat | null {
    const last = this.lastAction;
    if (last?.at === at && last.actionType === actionType && last.tenantId === tenantId) return last;
    this.lastAction = this.held(this.actions, `${tenantId}\n${actionType}\n${at}`, () => ({
      ...{ tenantId, actionType, at },
      ...newCounts(),
    }));
    return this.lastAction;
  }

  private executionStat({ tenantId, workflowId, version }: NewExecution): ExecutionStat | null {
    const at = minuteOf(this.deps.wallClockMs());
    const shown = shownVersion(version);
    const last = this.lastExecution;
    if (last?.at === at && last.version === shown && last.workflowId === workflowId && last.tenantId === tenantId) {
      return last;
    }
    this.lastExecution = this.held(this.executions, `${tenantId}\n${workflowId}\n${shown}\n${at}`, () => ({
      ...{ tenantId, workflowId, version: shown, at },
      ...newCounts(),
    }));
    return this.lastExecution;
  }

  private countFailures(execution: NewExecution, status: string, state: State): void {
    const failed = state.nodes.flatMap((node, index) =>
      (node.status === 'Failed' || node.status === 'TimedOut') && node.error !== null
        ? [{ nodeId: state.plan.nodes[index]!.id, ...node.error }]
        : [],
    );
    const { error } = state;
    const ended = error === null || status === 'Cancelled' || status === 'Succeeded' ? [] : [{ nodeId: '', ...error }];
    for (const cause of failed.length > 0 ? failed : ended) this.countFailure(execution, cause);
  }

  private countFailure(
    { tenantId, workflowId, executionId }: NewExecution,
    { nodeId, code, message: told }: { nodeId?: string; code: string; message: string },
  ): void {
    const now = this.deps.wallClockMs();
    const at = now - (now % FAILURE_STEP_MS);
    const message = told.replaceAll(/\d+/g, '#').slice(0, MAX_MESSAGE);
    const cause = [workflowId, nodeId ?? '', code, message].join('\n');
    const stat = this.held(this.failures, `${tenantId}\n${at}\n${cause}`, () => ({
      ...{ tenantId, at, workflowId, nodeId: nodeId ?? '', code, message: told.slice(0, MAX_MESSAGE) },
      fingerprint: createHash('sha256').update(cause).digest('hex').slice(0, 16),
      ...{ count: 0, firstAt: now, lastAt: now, sampleId: executionId },
    }));
    if (stat === null) return;
    stat.count++;
    stat.lastAt = now;
    stat.sampleId = executionId;
  }

  private held<Stat>(stats: Map<string, Stat>, key: string, make: () => Stat): Stat | null {
    const known = stats.get(key);
    if (known !== undefined) return known;
    if (stats.size >= MAX_HELD) return null;
    const made = make();
    stats.set(key, made);
    this.cancelTimer ??= this.deps.timers.after(WRITE_EVERY_MS, () => {
      this.cancelTimer = null;
      this.writing = this.write();
    });
    return made;
  }

  private async write(): Promise<void> {
    const { store, warn, wallClockMs } = this.deps;
    const [executions, actions, failures] = [this.executions, this.actions, this.failures];
    if (executions.size + actions.size + failures.size === 0) return;
    [this.executions, this.actions, this.failures] = [new Map(), new Map(), new Map()];
    this.lastExecution = this.lastAction = null;
    try {
      await store.statsAdd({
        executions: [...executions.values()],
        actions: [...actions.values()],
        failures: [...failures.values()],
      });
      if (wallClockMs() - this.purgedAt < PURGE_EVERY_MS) return;
      this.purgedAt = wallClockMs();
      await store.statsPurge();
    } catch (error) {
      // A failed write may have been applied. Losing counts is better than counting twice.
      warn('statistics could not be written', { error: (error as Error).message });
    }
  }
}

const minuteOf = (time: number): number => time - (time % MINUTE_MS);

const newCounts = (): StatCounts => ({
  ...{ started: 0, succeeded: 0, failed: 0, timedOut: 0, cancelled: 0 },
  ...{ durations: emptyHistogram(), waits: emptyHistogram() },
});

function countStatus(stat: StatCounts, status: string): void {
  if (status === 'Succeeded') stat.succeeded++;
  else if (status === 'TimedOut') stat.timedOut++;
  else if (status === 'Cancelled') stat.cancelled++;
  else stat.failed++;
}

function observe(stat: StatCounts, durationMs: number, waitMs: number | null): void {
  const duration = bucketOf(DURATION_BOUNDS_MS, durationMs);
  stat.durations[duration] = stat.durations[duration]! + 1;
  if (waitMs === null) return;
  const wait = bucketOf(WAIT_BOUNDS_MS, waitMs);
  stat.waits[wait] = stat.waits[wait]! + 1;
}

function attemptStatus(result: AttemptResult): string {
  if (result.ok) return 'Succeeded';
  if (result.aborted === true) return 'Cancelled';
  return result.timedOut === true ? 'TimedOut' : 'Failed';
}
