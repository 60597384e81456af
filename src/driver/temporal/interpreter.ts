// The workflow that represents an execution in Temporal: a thin, deterministic shell around the turn service. It runs open
// attempts, waits for whatever is due, and asks what is open now. It decides nothing. Its history contains ids, numbers and
// statuses: no plan, parameter, output or secret (S6).
//
// Guard every change of this file's order of commands with patched(): histories of earlier versions are replayed on it, in the
// tests and by every worker that takes over a run (docs/temporal.md, "Changing the interpreter").

import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  defineSignal,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { Open, OpenAttempt, OpenChild } from '../../engine/turn/open.ts';

export interface Interpretation {
  readonly executionId: string;
  readonly epoch: number;
  readonly limits: InterpreterLimits;
}

export interface InterpreterLimits {
  /** How long a worker may be silent before another one runs its attempt again. */
  readonly heartbeatMs: number;
  /** Extra time beyond an attempt's own timeout before Temporal ends it. */
  readonly graceMs: number;
  /** For an attempt without a timeout. */
  readonly longestAttemptMs: number;
  /** A longer history is continued in a new run. */
  readonly maxEvents: number;
}

export interface InterpreterActivities {
  advance(run: { executionId: string; epoch: number; since: number; place: RunPlace }): Promise<Open>;
  cancelled(run: { executionId: string; epoch: number }): Promise<void>;
  runAttempt(attempt: {
    executionId: string;
    epoch: number;
    nodeId: string;
    attempt: number;
    since: number;
  }): Promise<Open>;
}

/** The place of the run, recorded with the execution for people who look for it. */
export interface RunPlace {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
}

/** The execution's inbox has mail. The signal carries nothing: the turn reads the mail. */
export const mailSignal = defineSignal('mail');

const turns = proxyLocalActivities<InterpreterActivities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '100ms', maximumInterval: '5s', backoffCoefficient: 2 },
});

/** Unlimited and quick: only for workers that died. An attempt's outcome is a value, never a failure. */
const RUN_AGAIN = { initialInterval: '100ms', maximumInterval: '10s', backoffCoefficient: 2 } as const;

export async function interpret(input: Interpretation): Promise<{ status: string }> {
  const shell = new Shell(input);
  setHandler(mailSignal, () => shell.mailCame());
  // A cancellation from Temporal becomes a cancel of the execution. The shell goes on until the execution has ended.
  CancellationScope.current().cancelRequested.catch(() => shell.cancelCame());
  const status = await CancellationScope.nonCancellable(() => shell.run());
  if (status === 'Cancelled') throw new CancelledFailure('The execution was cancelled');
  if (status === 'Failed' || status === 'TimedOut') {
    throw ApplicationFailure.nonRetryable(`The execution ended as ${status}`, `Execution${status}`);
  }
  return { status };
}

class Shell {
  private readonly input: Interpretation;
  private open: Open = { seq: 0, status: 'Pending', attempts: [], children: [] };
  /** Attempts and children started in this run, by name. */
  private readonly started = new Set<string>();
  private readonly inFlight = new Map<string, CancellationScope>();
  /** Attempts that were already told to stop. */
  private readonly stopped = new Set<string>();
  private timer: { readonly at: number; readonly scope: CancellationScope } | null = null;
  private wantsTurn = true;
  private wantsCancel = false;
  /** Something went wrong over there: the next turn lists everything that is open. */
  private isUnsure = false;

  constructor(input: Interpretation) {
    this.input = input;
  }

  mailCame(): void {
    this.wantsTurn = true;
  }

  cancelCame(): void {
    this.wantsCancel = true;
  }

  async run(): Promise<string> {
    while (this.open.ended !== true) {
      if (this.wantsCancel) await this.cancel();
      if (this.wantsTurn) await this.advance();
      if (this.open.ended === true) break;
      if (this.isLong() && this.inFlight.size === 0) await this.goOnInANewRun();
      await condition(() => this.wantsTurn || this.wantsCancel || this.open.ended === true || this.mayGoOnAnew());
    }
    return this.open.status;
  }

  private async cancel(): Promise<void> {
    this.wantsCancel = false;
    const { executionId, epoch } = this.input;
    await turns.cancelled({ executionId, epoch });
    this.wantsTurn = true;
  }

  private async advance(): Promise<void> {
    this.wantsTurn = false;
    const { executionId, epoch } = this.input;
    const { namespace, workflowId, runId, taskQueue } = workflowInfo();
    const since = this.isUnsure ? 0 : this.open.seq;
    this.isUnsure = false;
    this.take(await turns.advance({ executionId, epoch, since, place: { namespace, workflowId, runId, taskQueue } }));
  }

  /** Of two answers the newer one counts, but each may contain attempts that the other does not. */
  private take(answer: Open): void {
    if (answer.seq >= this.open.seq) this.open = answer;
    if (this.open.stopping === true) this.stopAttempts();
    this.setTimer();
    if (this.open.ended === true || this.isLong()) return;
    for (const attempt of answer.attempts) this.runAttempt(attempt);
    for (const child of answer.children) this.startChild(child);
  }

  private runAttempt({ nodeId, attempt, taskQueue, timeoutMs }: OpenAttempt): void {
    const name = `${nodeId}:${attempt}`;
    if (this.started.has(name)) return;
    const { executionId, epoch, limits } = this.input;
    const { runAttempt } = proxyActivities<InterpreterActivities>({
      taskQueue,
      startToCloseTimeout: (timeoutMs ?? limits.longestAttemptMs) + limits.graceMs,
      heartbeatTimeout: limits.heartbeatMs,
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: RUN_AGAIN,
    });
    const since = this.open.seq;
    this.started.add(name);
    const scope = new CancellationScope();
    this.inFlight.set(name, scope);
    scope
      .run(() => runAttempt({ executionId, epoch, nodeId, attempt, since }))
      .then(
        (answer) => this.attemptEnded(name, answer),
        () => this.attemptLost(name),
      );
  }

  private attemptEnded(name: string, answer: Open): void {
    this.inFlight.delete(name);
    this.take(answer);
  }

  /**
   * It was stopped before a worker had it. If it is still open it is started once more: the turn service does not run it
   * then, but learns of its end.
   */
  private attemptLost(name: string): void {
    this.inFlight.delete(name);
    this.started.delete(name);
    this.isUnsure = true;
    this.wantsTurn = true;
  }

  private stopAttempts(): void {
    for (const [name, scope] of this.inFlight) {
      if (this.stopped.has(name)) continue;
      this.stopped.add(name);
      scope.cancel();
    }
  }

  /** A child that cannot be started here was started by somebody else, and its end comes as mail. */
  private startChild(child: OpenChild): void {
    const { executionId } = child;
    if (this.started.has(executionId)) return;
    this.started.add(executionId);
    const { limits } = this.input;
    const searchAttributes = attributesOf(child);
    const start = startChild(interpret, {
      workflowId: `pawl/${executionId}/1`,
      args: [{ executionId, epoch: 1, limits }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      ...(searchAttributes === undefined ? {} : { searchAttributes }),
    });
    const ended = () => {
      this.wantsTurn = true;
    };
    start.then(
      (run) => run.result().then(ended, ended),
      () => undefined,
    );
  }

  /** One timer at most, and only if none rings in time: a deadline in an hour costs a one-second execution one event. */
  private setTimer(): void {
    const at = this.open.nextDueAt;
    if (at === undefined || (this.timer !== null && this.timer.at <= at)) return;
    this.timer?.scope.cancel();
    const scope = new CancellationScope();
    this.timer = { at, scope };
    scope
      .run(() => sleep(Math.max(1, at - Date.now())))
      .then(
        () => {
          this.timer = null;
          this.wantsTurn = true;
        },
        () => undefined,
      );
  }

  private isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength > this.input.limits.maxEvents;
  }

  private mayGoOnAnew(): boolean {
    return this.inFlight.size === 0 && this.isLong();
  }

  /**
   * Nothing is in flight, so nothing is lost: the new run asks for everything that is open. Its first turn reads mail that
   * came meanwhile.
   */
  private goOnInANewRun(): Promise<never> {
    return continueAsNew<typeof interpret>(this.input);
  }
}

/**
 * A child belongs where its parent belongs, so people find it like any other run. undefined: an older worker's answer does
 * not name the child's workflow. Replay does not compare search attributes, so no guard is needed.
 */
function attributesOf({ executionId, workflowId, version }: Partial<OpenChild>): Record<string, string[]> | undefined {
  if (executionId === undefined || workflowId === undefined) return undefined;
  const { tenantId, projectId, environmentId } = workflowInfo().searchAttributes as Record<string, string[]>;
  const own = {
    runId: [executionId],
    planId: [workflowId],
    ...(version === undefined ? {} : { planVersion: [String(version)] }),
  };
  const inherited = Object.entries({ tenantId, projectId, environmentId }).filter(([, values]) => values !== undefined);
  return { ...own, ...(Object.fromEntries(inherited) as Record<string, string[]>) };
}
