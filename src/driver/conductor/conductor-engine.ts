// Conductor as an engine: handing runs over, telling them of mail, asking how they are. Conductor ignores idempotency keys, so starts are
// fenced here: the correlation id names execution and epoch, and before a start somebody looks whether there is such a run already. Should
// two processes start one all the same, the oldest run counts; the others are told to abandon (conductor-workers.ts).

import type { Plan } from '../../core/plan/plan.ts';
import type { Problem } from '../../core/problem/problem.ts';
import type { EngineRunRef } from '../../protocol/driver.ts';
import type { PlanSource } from '../../workflow/plan-cache.ts';
import type { EngineHealth, OutsideEngine, RunContext, RunStatusSnapshot, Signal, SignalOutcome } from '../driver.ts';
import { answeredInTime } from '../health-deadline.ts';
import type { RunCommands } from '../run-commands.ts';
import type { StartLatency } from '../start-latency.ts';
import type { ConductorClient } from './conductor-client.ts';
import { conductorProblems, laneDefinition } from './lane-definition.ts';

export interface ConductorEngineDeps {
  readonly client: ConductorClient;
  readonly plans: Pick<PlanSource, 'plan'>;
  readonly commands: RunCommands;
  readonly latency: StartLatency;
  readonly monotonicMs: () => number;
  /** Takes a turn for a run that has mail; its lanes look again by themselves. */
  readonly advance: (run: { executionId: string; epoch: number }) => Promise<unknown>;
}

const RUNNING = new Set(['RUNNING', 'PAUSED']);

export class ConductorEngine implements OutsideEngine {
  readonly provider = 'conductor';
  private readonly deps: ConductorEngineDeps;

  constructor(deps: ConductorEngineDeps) {
    this.deps = deps;
  }

  validate(plan: Plan): Problem[] {
    return conductorProblems(plan);
  }

  async startRun(
    { planId, planVersion }: { planId: string; planVersion: string },
    { runId: executionId, epoch, tenantId }: RunContext,
  ): Promise<EngineRunRef> {
    const { client, plans, latency, monotonicMs } = this.deps;
    const loaded = await plans.plan({ tenantId, workflowId: planId, version: Number(planVersion) });
    if (loaded === null || 'problem' in loaded) throw new Error(`the plan of ${planId} cannot be loaded`);
    const definition = laneDefinition(loaded.plan);
    const correlationId = correlationOf(executionId, epoch);
    const [known] = await client.find(definition.name, correlationId);
    const askedAt = monotonicMs();
    const workflowId = known?.workflowId ?? (await client.start(definition, correlationId, { executionId, epoch }));
    if (known === undefined) latency.took(monotonicMs() - askedAt);
    return { provider: 'conductor', workflowId, runId: correlationId, conductorUrl: client.url };
  }

  async cancelRun(ref: EngineRunRef, { reason, terminate }: { reason?: string; terminate?: boolean }): Promise<void> {
    const { executionId } = runOf(ref);
    await this.deps.commands.cancel(executionId, reason);
    if (terminate === true) await this.deps.client.terminate(ref.workflowId, reason ?? 'terminated');
    else await this.mail(ref);
  }

  async getRunStatus(ref: EngineRunRef): Promise<RunStatusSnapshot> {
    const run = await this.deps.client.get(ref.workflowId);
    if (run === null) return { state: 'absent', providerStatus: 'NOT_FOUND' };
    const { status, reasonForIncompletion: reason } = run;
    return {
      state: RUNNING.has(status) ? 'running' : 'ended',
      providerStatus: status,
      ...(reason === undefined ? {} : { reason }),
    };
  }

  async signal(ref: EngineRunRef, signal: Signal): Promise<SignalOutcome> {
    const outcome = await this.deps.commands.signal(runOf(ref).executionId, signal);
    await this.mail(ref);
    return outcome;
  }

  async mail(ref: EngineRunRef): Promise<void> {
    await this.deps.advance(runOf(ref));
  }

  async health(): Promise<EngineHealth> {
    const { client, latency } = this.deps;
    const p95 = latency.p95Ms();
    const numbers = { url: client.url, ...(p95 === null ? {} : { startLatencyP95Ms: Math.round(p95) }) };
    try {
      const isHealthy = await answeredInTime(`Conductor at ${client.url}`, client.isHealthy());
      if (isHealthy) return { status: (p95 ?? 0) > 5_000 ? 'degraded' : 'healthy', numbers };
      return { status: 'degraded', detail: `Conductor at ${client.url} says that it is not healthy`, numbers };
    } catch (error) {
      return { status: 'degraded', detail: (error as Error).message, numbers };
    }
  }

  async ping(): Promise<void> {
    const { client } = this.deps;
    await answeredInTime(`Conductor at ${client.url}`, client.isHealthy());
  }

  async close(): Promise<void> {}
}

/** Without a slash, which Conductor takes for a part of the path. */
export function correlationOf(executionId: string, epoch: number): string {
  return `${executionId}_${epoch}`;
}

function runOf(ref: EngineRunRef): { executionId: string; epoch: number } {
  const [executionId = '', epoch = '0'] = (ref.runId ?? '').split('_');
  return { executionId, epoch: Number(epoch) };
}
