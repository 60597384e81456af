// The client: starts work at a steady pace, does to each execution what its work says, and records what was acknowledged. If no
// answer comes, the client asks again with the same id, as a careful client does; only an answer counts.

import { setTimeout as delay } from 'node:timers/promises';
import { PawlError } from '../../src/core/error/pawl-error.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import type { Pawl } from '../../src/main.ts';
import type { AckLedger } from './ack-ledger.ts';
import type { Random } from './random.ts';
import type { Violation } from './violation.ts';
import { drawWork, type FollowUp, type Work } from './workload.ts';

const ASK_AGAIN_AFTER_MS = 150;

export interface LoadOptions {
  readonly pawl: Pawl;
  readonly ledger: AckLedger;
  readonly random: Random;
  readonly sinkUrl: string;
  readonly startsPerSecond: number;
  /** Sometimes many executions come at once, so that batches are large and places are few. */
  readonly hasBursts: boolean;
}

const BURST_CHANCE = 0.02;
const BURST = 40;

interface Target {
  readonly tenantId: string;
  readonly executionId: string;
}

export class Load {
  readonly works = new Map<string, Work>();
  readonly violations: Violation[] = [];
  asksRepeated = 0;
  private readonly options: LoadOptions;
  private readonly open = new Set<Promise<void>>();
  private readonly random: Random;
  private givenUp = false;

  constructor(options: LoadOptions) {
    this.options = options;
    this.random = options.random;
  }

  async runFor(ms: number): Promise<void> {
    const until = Date.now() + ms;
    while (Date.now() < until) {
      const together = this.random.chance(BURST_CHANCE) && this.options.hasBursts ? BURST : 1;
      for (let count = 0; count < together; count++) this.begin();
      await delay((2 * this.random.next() * 1_000) / this.options.startsPerSecond);
    }
  }

  /** True when all work was acknowledged and followed up. */
  async settled(withinMs: number): Promise<boolean> {
    const timer = AbortSignal.timeout(withinMs);
    const late = new Promise<false>((resolve) => {
      timer.addEventListener('abort', () => resolve(false));
    });
    const settled = await Promise.race([Promise.all(this.open).then(() => true), late]);
    this.givenUp = true;
    return settled;
  }

  private begin(): void {
    const number = this.works.size;
    const work = drawWork(this.random.fork(String(number)), number, this.options.sinkUrl);
    this.works.set(work.workId, work);
    const done = this.see(work).finally(() => this.open.delete(done));
    this.open.add(done);
  }

  private async see(work: Work): Promise<void> {
    const { pawl, ledger } = this.options;
    const { workId, tenantId, workflowId, trigger, priority } = work;
    const started = await this.ask(null, `start of ${workId}`, () =>
      pawl.start(workflowId, { tenantId, requestId: workId, trigger, priority }),
    );
    if (started === undefined) return;
    const { executionId } = started;
    await ledger.record({ type: 'started', workId, executionId });
    for (const [index, followUp] of work.followUps.entries()) {
      await delay(followUp.afterMs);
      await this.followUp({ tenantId, executionId }, `${workId}-${index}`, followUp);
    }
  }

  private async followUp(target: Target, id: string, followUp: FollowUp): Promise<void> {
    switch (followUp.type) {
      case 'signal':
        return this.signal(target, id, followUp.signal, {}, followUp.copies);
      case 'callBack':
        return this.callBack(target.executionId, followUp);
      case 'cancel':
        return this.cancel(target);
      case 'revive':
        await this.hasEnded(target);
        return this.signal(target, id, 'RETRY_STEP', { stepId: followUp.nodeId, force: true }, 1);
    }
  }

  private async signal(
    { tenantId, executionId }: Target,
    signalId: string,
    type: 'PAUSE' | 'RESUME' | 'ESCALATE_ALERT' | 'RETRY_STEP',
    payload: { stepId?: string; force?: boolean },
    copies: number,
  ): Promise<void> {
    const { pawl, ledger } = this.options;
    for (let copy = 0; copy < copies; copy++) {
      const answer = await this.ask(executionId, `signal ${type}`, () =>
        pawl.executions.signal(tenantId, executionId, { signalId, type, payload: { ...payload } }),
      );
      if (answer !== undefined && copy === 0) await ledger.record({ type: 'signalled', executionId, signalId });
    }
  }

  private async callBack(executionId: string, { nodeId, payload, copies }: Extract<FollowUp, { type: 'callBack' }>) {
    const { pawl, ledger } = this.options;
    const key = await this.ask(executionId, 'callback key', () => pawl.store.secretGet({ name: 'callback' }));
    if (key === undefined) return;
    const token = callbackToken(key, { executionId, nodeId });
    for (let copy = 0; copy < copies; copy++) {
      const answer = await this.ask(executionId, 'callback', () => pawl.executions.callBack(token, payload));
      if (answer === undefined) return;
      if (answer !== 'accepted') this.report('I10', executionId, `a callback to ${nodeId} was answered "${answer}"`);
      if (copy === 0) await ledger.record({ type: 'calledBack', executionId, nodeId, payload });
    }
  }

  private async cancel({ tenantId, executionId }: Target): Promise<void> {
    const { pawl, ledger } = this.options;
    const answer = await this.ask(executionId, 'cancel', () => pawl.executions.cancel(tenantId, executionId));
    if (answer !== undefined) await ledger.record({ type: 'cancelled', executionId });
  }

  private async hasEnded({ tenantId, executionId }: Target): Promise<void> {
    const { pawl } = this.options;
    for (;;) {
      const view = await this.ask(executionId, 'status', () => pawl.executions.get(tenantId, executionId));
      if (view === undefined || view.endedAt !== null) return;
      await delay(ASK_AGAIN_AFTER_MS);
    }
  }

  /**
   * Asks until there is an answer. Undefined: the request was refused, which is a finding, or given up, which the check will
   * report.
   */
  private async ask<Answer>(
    executionId: string | null,
    what: string,
    question: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    while (!this.givenUp) {
      try {
        return await question();
      } catch (error) {
        // An engine that is too slow or away answers: try again later.
        if (error instanceof PawlError && error.code !== 'ENGINE_UNAVAILABLE') {
          this.report('I1', executionId, `${what} was refused: ${error.code}: ${error.message}`);
          return undefined;
        }
        this.asksRepeated++;
        await delay(ASK_AGAIN_AFTER_MS);
      }
    }
    return undefined;
  }

  private report(invariant: string, executionId: string | null, what: string): void {
    this.violations.push({ invariant, executionId, what });
  }
}
