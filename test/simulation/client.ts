// The people and programs outside, who use the real API (engine/executions.ts): they start executions, call back, pause, cancel
// and retry. When no answer comes, they ask again with the same request id, signal id or token, as the documentation tells them.

import { PawlError } from '../../src/core/error/pawl-error.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import { Executions } from '../../src/execution/executions.ts';
import type { Adopt } from '../../src/execution/start/starter.ts';
import type { HintedLane } from '../../src/store/hint-port.ts';
import type { Store } from '../../src/store/port.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { SchemaCheck } from '../../src/workflow/schema-check.ts';
import type { Audit } from './audit.ts';
import type { Case, ExecutionCase } from './case.ts';
import type { Tables } from './database/tables.ts';
import type { PostedEvent } from './language.ts';
import { planSource } from './machine.ts';
import { OUTSIDE_DRIVER } from './outside-worker.ts';
import type { Random } from './random.ts';
import type { Process } from './world.ts';

export interface ClientDeps {
  readonly process: Process;
  readonly store: Store;
  readonly random: Random;
  readonly audit: Audit;
  readonly tables: Tables;
  readonly workWanted: (lanes?: readonly HintedLane[]) => void;
  readonly mailArrived: (executionId: string) => void;
  readonly adopt: Adopt;
  /** An execution waits to be handed over. */
  readonly handOverWanted: () => void;
}

const CALLBACK_KEY = new Uint8Array(32).fill(7);
/** The pause between two posts of an event that is repeated until the execution takes it. */
const REPEATED_AFTER_MS = 400;
/** More than the failures in any script. */
const MOST_RETRIES = 100;

type Repair =
  | { readonly type: 'RERUN_FROM'; readonly payload: { readonly stepId: string } }
  | {
      readonly type: 'COMPLETE_STEP';
      readonly payload: { readonly stepId: string; readonly outputs: { readonly byHand: boolean } };
    };

export class Client {
  /** Execution ids, by the number of their case. */
  readonly started = new Map<number, string>();
  busy = 0;
  private readonly deps: ClientDeps;
  private readonly executions: Executions;

  constructor(deps: ClientDeps) {
    this.deps = deps;
    this.executions = new Executions({
      store: deps.store,
      plans: planSource(deps.store, deps.process.timers),
      timers: deps.process.timers,
      newId: () => deps.random.uuid(),
      wallClockMs: () => Math.floor(deps.tables.clock()),
      callbackKey: CALLBACK_KEY,
      schemas: new SchemaCheck({ checkSchema: async () => [], checkValue: async () => [] }),
      workWanted: deps.workWanted,
      mailArrived: deps.mailArrived,
      adopt: deps.adopt,
      drivers: {
        choose: ({ wished }) => (wished === OUTSIDE_DRIVER ? OUTSIDE_DRIVER : undefined),
        wanted: deps.handOverWanted,
      },
    });
  }

  begin({ executions }: Case): void {
    for (const execution of executions) {
      this.busy++;
      this.deps.process.timers.after(execution.startAtMs, () => {
        this.attend(execution).then(
          () => this.busy--,
          (error: unknown) => {
            this.busy--;
            this.deps.audit.violate('client', `#${execution.number}: ${String(error)}`);
          },
        );
      });
    }
  }

  private async attend(execution: ExecutionCase): Promise<void> {
    const executionId = await this.start(execution);
    await Promise.all([
      this.control(execution, executionId),
      ...execution.callbacks.map((callback) => this.callBack(executionId, callback)),
      ...(execution.workflow.language?.events ?? []).map((event) => this.post(execution, executionId, event)),
    ]);
  }

  private async post({ number, tenantId }: ExecutionCase, executionId: string, event: PostedEvent): Promise<void> {
    if (event.afterMs > 0) await this.deps.process.sleep(event.afterMs);
    const { type, isSentTwice, isRepeated } = event;
    const tell = (id: string) =>
      this.persist(() => this.executions.tellWaiting(tenantId, { id, type, data: { order: number } }));
    for (let time = 0; ; time++) {
      const id = `${event.id}-${time}`;
      await Promise.all(isSentTwice ? [tell(id), tell(id)] : [tell(id)]);
      if (!isRepeated || this.deps.tables.outcomes.has(executionId)) return;
      await this.deps.process.sleep(REPEATED_AFTER_MS);
    }
  }

  private async start({
    number,
    tenantId,
    workflow,
    priority,
    isSentTwice,
    isOutside = false,
  }: ExecutionCase): Promise<string> {
    const request = {
      ...(isOutside ? ({ driver: OUTSIDE_DRIVER } as const) : {}),
      tenantId,
      workflowId: workflow.id,
      priority,
      requestId: `request-${number}`,
      trigger: { value: number },
    };
    const calls = [this.persist(() => this.executions.start(request))];
    if (isSentTwice) calls.push(this.persist(() => this.executions.start(request)));
    const answers = await Promise.all(calls);
    const { executionId } = answers[0]!;
    if (answers.some((answer) => answer.executionId !== executionId)) {
      this.deps.audit.violate('I1', `#${number}: one request was answered with two executions`);
    }
    if (!this.deps.tables.executions.has(executionId)) {
      this.deps.audit.violate('I1', `#${number} was accepted, and does not exist`);
    }
    this.started.set(number, executionId);
    return executionId;
  }

  private async callBack(
    executionId: string,
    { nodeId, afterMs, isSentTwice }: ExecutionCase['callbacks'][number],
  ): Promise<void> {
    if (afterMs > 0) await this.deps.process.sleep(afterMs);
    const token = callbackToken(CALLBACK_KEY, { executionId, nodeId });
    const call = (n: number) => this.persist(() => this.executions.callBack(token, { call: n }));
    const answers = await Promise.all(isSentTwice ? [call(1), call(2)] : [call(1)]);
    if (answers.includes('unknown'))
      this.deps.audit.violate('I10', `the token of ${executionId} ${nodeId} is not known`);
  }

  private async control({ number, tenantId, control }: ExecutionCase, executionId: string): Promise<void> {
    switch (control.kind) {
      case 'none':
        return;
      case 'cancel':
        await this.deps.process.sleep(control.afterMs);
        return this.unlessEnded(() => this.executions.cancel(tenantId, executionId));
      case 'pause':
        await this.deps.process.sleep(control.afterMs);
        await this.signal(tenantId, executionId, `pause-${number}`, 'PAUSE', false);
        await this.deps.process.sleep(control.forMs);
        await this.signal(tenantId, executionId, `pause-${number}`, 'PAUSE', true);
        await this.signal(tenantId, executionId, `resume-${number}`, 'RESUME', false);
        await this.deps.process.sleep(control.forMs);
        return this.signal(tenantId, executionId, `resume-${number}`, 'RESUME', true);
      case 'patch':
        await this.deps.process.sleep(control.afterMs);
        return this.patch(tenantId, executionId, control.nodeId);
      case 'retry':
        return this.retryUntilSuccess(tenantId, executionId);
      case 'refusedRetry':
        return this.retryWithoutForce(tenantId, executionId);
      case 'rerun':
        return this.rerun(tenantId, executionId, control.nodeId);
      case 'complete':
        await this.deps.process.sleep(control.afterMs);
        return this.complete(tenantId, executionId);
    }
  }

  private async rerun(tenantId: string, executionId: string, stepId: string): Promise<void> {
    await this.persist(() => this.executions.result(tenantId, executionId));
    await this.repair(tenantId, executionId, { type: 'RERUN_FROM', payload: { stepId } });
    await this.persist(() => this.executions.result(tenantId, executionId));
  }

  private async complete(tenantId: string, executionId: string): Promise<void> {
    const { state } = await this.persist(() => this.executions.inspect(tenantId, executionId));
    const stuck = state.nodes.findIndex(({ status }) => /^(Sleeping|Waiting|Retrying|Failed|TimedOut)$/.test(status));
    if (stuck < 0) return;
    const payload = { stepId: state.plan.nodes[stuck]!.id, outputs: { byHand: true } };
    await this.repair(tenantId, executionId, { type: 'COMPLETE_STEP', payload });
  }

  /** Sent twice, as by somebody who has not seen the answer; the repair is taken once. */
  private async repair(tenantId: string, executionId: string, signal: Repair): Promise<void> {
    const signalId = `${signal.type} ${executionId}`;
    for (const isRepeat of [false, true]) {
      await this.unlessEnded(async () => {
        const { repeated } = await this.executions.signal(tenantId, executionId, { signalId, ...signal });
        if (isRepeat && !repeated) this.deps.audit.violate('I10', `signal ${signalId} was taken twice`);
      });
    }
  }

  private async patch(tenantId: string, executionId: string, stepId: string): Promise<void> {
    const signals = [
      { type: 'INJECT_OVERRIDE', payload: { stepId, override: { once: true } } },
      { type: 'UPDATE_PARAMS', payload: { newParams: { patched: true } } },
    ] as const;
    for (const signal of signals) {
      const signalId = `${signal.type} ${stepId}`;
      await this.unlessEnded(() => this.executions.signal(tenantId, executionId, { signalId, ...signal }));
    }
  }

  /** `isRepeat`: the signal was answered before, so it must be known, whatever became of it. */
  private async signal(
    tenantId: string,
    executionId: string,
    signalId: string,
    type: 'PAUSE' | 'RESUME',
    isRepeat: boolean,
  ): Promise<void> {
    await this.unlessEnded(async () => {
      const { repeated } = await this.executions.signal(tenantId, executionId, { signalId, type, payload: {} });
      if (isRepeat && !repeated) this.deps.audit.violate('I10', `signal ${signalId} of ${executionId} was taken twice`);
    });
  }

  private async retryUntilSuccess(tenantId: string, executionId: string): Promise<void> {
    for (let retries = 0; retries < MOST_RETRIES; retries++) {
      const { status } = await this.persist(() => this.executions.result(tenantId, executionId));
      if (status === 'Succeeded') return;
      await this.unlessEnded(() => this.executions.retry(tenantId, executionId));
      await this.deps.process.sleep(50);
    }
  }

  private async retryWithoutForce(tenantId: string, executionId: string): Promise<void> {
    await this.persist(() => this.executions.result(tenantId, executionId));
    const { state } = await this.persist(() => this.executions.inspect(tenantId, executionId));
    const failed = state.nodes.findIndex(({ status }) => status === 'Failed' || status === 'TimedOut');
    if (failed < 0) return;
    const payload = { stepId: state.plan.nodes[failed]!.id };
    await this.unlessEnded(() =>
      this.executions.signal(tenantId, executionId, { signalId: 'without-force', type: 'RETRY_STEP', payload }),
    );
    await this.persist(() => this.executions.result(tenantId, executionId));
  }

  private async unlessEnded(ask: () => Promise<unknown>): Promise<void> {
    try {
      await this.persist(ask);
    } catch (error) {
      if (!(error instanceof PawlError) || error.code !== 'WFENG002') throw error;
    }
  }

  /** Asks until there is an answer. */
  private async persist<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        await this.deps.process.sleep(this.deps.random.between(20, 400));
      }
    }
  }
}
