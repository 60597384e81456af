// Finds stuck executions: an attempt that has not ended long after its timeout (its task queue has no worker, or an engine has
// lost it), or an execution that takes far longer than its workflow usually does. Each is reported once, as an ESCALATE_ALERT in
// its journal and a line in the log, on every engine. By option, a stuck attempt counts as timed out and its step is retried by
// force.

import type { AttemptResult } from '../action/attempt.ts';
import type { Timers } from '../clock/timers.ts';
import { allNodes, idOf, planNodeOf } from '../core/decider/frame.ts';
import type { State } from '../core/decider/state.ts';
import type { OutsideTurns } from '../engine/turn/outside-turn.ts';
import type { ExternalStore } from '../store/external-port.ts';
import type { ExecutionReader } from '../store/reader-port.ts';
import type { Executions } from './executions.ts';

export interface StuckWatchDeps {
  readonly store: Pick<ExecutionReader, 'executionBusy'> & Pick<ExternalStore, 'externalGet'>;
  readonly executions: Pick<Executions, 'inspect' | 'signal'>;
  readonly turns: Pick<OutsideTurns, 'handIn'>;
  /** The 99th percentile of a workflow's durations; undefined: unknown. */
  readonly p99Ms: (tenantId: string, workflowId: string) => Promise<number | undefined>;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  readonly count: (metric: 'stuck' | 'stuckRetried') => void;
  readonly options: { readonly watchMs: number; readonly recover: boolean };
}

type Busy = Awaited<ReturnType<ExecutionReader['executionBusy']>>[number];

/** Executions that have run longer than this are looked at. */
const YOUNG_MS = 10_000;
const LIMIT = 200;
const TIMEOUTS = 2;
const P99S = 3;
const MOST_KNOWN = 10_000;

export class StuckWatch {
  private readonly deps: StuckWatchDeps;
  /** Already reported. */
  private readonly known = new Set<string>();
  private cancel = () => {};
  private looking: Promise<void> | null = null;
  private stopped = false;

  constructor(deps: StuckWatchDeps) {
    this.deps = deps;
  }

  start(): void {
    const { timers, options, warn } = this.deps;
    if (options.watchMs === 0 || this.stopped) return;
    this.cancel = timers.after(options.watchMs, () => {
      this.looking = this.runOnce()
        .catch((error: unknown) => warn('could not look for stuck executions', { error: String(error) }))
        .finally(() => this.start());
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await this.looking;
  }

  async runOnce(youngMs = YOUNG_MS): Promise<void> {
    if (this.known.size > MOST_KNOWN) this.known.clear();
    for (const busy of await this.deps.store.executionBusy({ longerThanMs: youngMs, limit: LIMIT })) {
      if (this.stopped) return;
      await this.look(busy);
    }
  }

  private async look(busy: Busy): Promise<void> {
    const { executions, p99Ms, wallClockMs } = this.deps;
    const { tenantId, executionId, workflowId, startedAt } = busy;
    const { state } = await executions.inspect(tenantId, executionId);
    for (const { nodeId, attempt, forMs, timeoutMs } of overdueAttempts(state, wallClockMs())) {
      const what = `attempt ${attempt} of ${nodeId} has been open for ${forMs} ms, and its timeout is ${timeoutMs} ms`;
      const isNew = await this.tell(busy, `stuck-${nodeId}-${attempt}`, 'HIGH', what);
      if (isNew && this.deps.options.recover) await this.recover(busy, nodeId, attempt, timeoutMs);
    }
    const usualMs = await p99Ms(tenantId, workflowId);
    const tookMs = wallClockMs() - startedAt;
    if (usualMs === undefined || tookMs <= usualMs * P99S) return;
    const what = `the execution has taken ${tookMs} ms; 99 of 100 executions of ${workflowId} take at most ${usualMs} ms`;
    await this.tell(busy, 'slow', 'MEDIUM', what);
  }

  /** true: it was not reported before. */
  private async tell(
    { tenantId, executionId }: Busy,
    signalId: string,
    level: 'MEDIUM' | 'HIGH',
    note: string,
  ): Promise<boolean> {
    const { executions, warn, count } = this.deps;
    const key = `${executionId} ${signalId}`;
    if (this.known.has(key)) return false;
    this.known.add(key);
    const alert = { signalId, type: 'ESCALATE_ALERT', payload: { level, note } } as const;
    const { repeated } = await executions.signal(tenantId, executionId, alert);
    if (repeated) return false;
    count('stuck');
    warn('an execution is stuck', { executionId, tenantId, note });
    return true;
  }

  /**
   * Times out the attempt, which its policy may retry; if not, the step is retried by force. The native engine ends its
   * attempts itself, and refuses to retry a running one.
   */
  private async recover(
    { tenantId, executionId }: Busy,
    nodeId: string,
    attempt: number,
    timeoutMs: number,
  ): Promise<void> {
    const { store, executions, turns, count } = this.deps;
    const run = await store.externalGet({ executionId });
    if (run !== null)
      await turns.handIn({ executionId, epoch: run.epoch, nodeId, attempt }, tenantId, timedOut(timeoutMs));
    const payload = { stepId: nodeId, force: true };
    await executions.signal(tenantId, executionId, {
      signalId: `stuck-${nodeId}-${attempt}`,
      type: 'RETRY_STEP',
      payload,
    });
    count('stuckRetried');
  }
}

const timedOut = (timeoutMs: number): AttemptResult => ({
  ok: false,
  error: { code: 'TIMEOUT', message: `nobody ended the attempt within ${TIMEOUTS} × its timeout of ${timeoutMs} ms` },
  retryable: true,
});

/** Attempts that have not ended after twice their timeout. */
export function overdueAttempts(
  state: State,
  now: number,
): { nodeId: string; attempt: number; forMs: number; timeoutMs: number }[] {
  return [...allNodes(state)].flatMap(([index, { status, attempts, startedAt }]) => {
    const { step, policy } = planNodeOf(state, index);
    const { timeoutMs } = policy;
    if (step.kind !== 'action' || status !== 'Running' || startedAt === null || timeoutMs === null) return [];
    const forMs = Math.round(now - startedAt);
    return forMs > timeoutMs * TIMEOUTS ? [{ nodeId: idOf(state, index), attempt: attempts, forMs, timeoutMs }] : [];
  });
}
