// Conductor as an engine: handing runs over, telling them of mail, asking how they are. Conductor ignores idempotency keys, so starts are
// fenced here: the correlation id names execution and epoch, and before a start somebody looks whether there is such a run already. Should
// two processes start one all the same, the oldest run counts; the others are told to abandon (conductor-workers.ts).

import type { Plan } from '../../core/plan/plan.ts';
import type { Problem } from '../../core/problem/problem.ts';
import type { EngineRunRef } from '../../protocol/driver.ts';
import type { PlanSource } from '../../workflow/plan-cache.ts';
import {
  type EngineHealth,
  EngineUnavailableError,
  type OutsideEngine,
  type RunContext,
  type RunStatusSnapshot,
  type Signal,
  type SignalOutcome,
} from '../driver.ts';
import { answeredInTime } from '../health-deadline.ts';
import type { RunCommands } from '../run-commands.ts';
import { createStartLatency, type StartLatency } from '../start-latency.ts';
import type { ConductorClient } from './conductor-client.ts';
import type { ConductorInstances } from './conductor-instances.ts';
import { conductorProblems, laneDefinition, stepTask } from './lane-definition.ts';

export interface ConductorEngineDeps {
  readonly instances: ConductorInstances;
  readonly plans: Pick<PlanSource, 'plan'>;
  readonly commands: RunCommands;
  readonly monotonicMs: () => number;
  readonly wallClockMs: () => number;
  /** Takes a turn for a run that has mail; its lanes look again by themselves. */
  readonly advance: (run: { executionId: string; epoch: number }) => Promise<unknown>;
  /** A run was started on this server: its first turn waits there. A hint. */
  readonly started: (client: ConductorClient) => void;
}

/** Idle workers with very many queues ask for the tasks of each one this seldom at most. */
const UNSERVED_MS = 60_000;
const RUNNING = new Set(['RUNNING', 'PAUSED']);

export class ConductorEngine implements OutsideEngine {
  readonly provider = 'conductor';
  private readonly deps: ConductorEngineDeps;

  /** Of each server: where one is away, the others take runs. */
  private readonly starts: ReadonlyMap<ConductorClient, StartLatency>;

  constructor(deps: ConductorEngineDeps) {
    this.deps = deps;
    this.starts = new Map(deps.instances.all.map((client) => [client, createStartLatency(deps.monotonicMs)]));
  }

  validate(plan: Plan): Problem[] {
    return conductorProblems(plan);
  }

  async startRun(
    { planId, planVersion }: { planId: string; planVersion: string },
    { runId: executionId, epoch, tenantId, environmentId }: RunContext,
  ): Promise<EngineRunRef> {
    const { instances, plans, monotonicMs, started } = this.deps;
    const client = instances.of(environmentId);
    const loaded = await plans.plan({ tenantId, workflowId: planId, version: Number(planVersion) });
    if (loaded === null || 'problem' in loaded) throw new Error(`the plan of ${planId} cannot be loaded`);
    const definition = laneDefinition(loaded.plan);
    const correlationId = correlationOf(executionId, epoch);
    const [known] = await client.find(definition.name, correlationId);
    const askedAt = monotonicMs();
    const workflowId = known?.workflowId ?? (await client.start(definition, correlationId, { executionId, epoch }));
    if (known === undefined) this.startsAt(environmentId).took(monotonicMs() - askedAt);
    started(client);
    return { provider: 'conductor', workflowId, runId: correlationId, conductorUrl: client.url };
  }

  async cancelRun(ref: EngineRunRef, { reason, terminate }: { reason?: string; terminate?: boolean }): Promise<void> {
    const { executionId } = runOf(ref);
    await this.deps.commands.cancel(executionId, reason);
    await this.mail(ref);
    if (terminate !== true) return;
    await this.clientOf(ref)
      .terminate(ref.workflowId, reason ?? 'terminated')
      .catch((error: unknown) => {
        // The execution is cancelled all the same: when Conductor is back, the next task of the run ends it there (conductor-workers.ts).
        if (!(error instanceof EngineUnavailableError)) throw error;
      });
  }

  async getRunStatus(ref: EngineRunRef): Promise<RunStatusSnapshot> {
    const run = await this.clientOf(ref).get(ref.workflowId);
    if (run === null) return { state: 'absent', providerStatus: 'NOT_FOUND' };
    const { status, reasonForIncompletion: reason } = run;
    return {
      state: RUNNING.has(status) ? 'running' : 'ended',
      providerStatus: status,
      ...(reason === undefined ? {} : { reason }),
      ...(status === 'PAUSED' ? { heldUp: pausedThere(ref.workflowId) } : {}),
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

  async isServed(ref: EngineRunRef, taskQueue: string): Promise<boolean> {
    const { wallClockMs } = this.deps;
    const polledAt = await this.clientOf(ref).lastPollAt(stepTask(taskQueue));
    return polledAt !== null && wallClockMs() - polledAt < UNSERVED_MS;
  }

  /** As well as its worst instance. */
  async health(): Promise<EngineHealth> {
    const { instances } = this.deps;
    const times = [...this.starts.values()].flatMap((latency) => latency.p95Ms() ?? []);
    const p95 = times.length === 0 ? null : Math.max(...times);
    const url = instances.all.map((client) => client.url).join(' ');
    const numbers = { url, ...(p95 === null ? {} : { startLatencyP95Ms: Math.round(p95) }) };
    const problems = (await Promise.all(instances.all.map(problemOf))).filter((problem) => problem !== null);
    if (problems.length > 0) return { status: 'degraded', detail: problems.join('; '), numbers };
    return { status: (p95 ?? 0) > 5_000 ? 'degraded' : 'healthy', numbers };
  }

  startsAt(environmentId: string): StartLatency {
    return this.starts.get(this.deps.instances.of(environmentId))!;
  }

  async ping(): Promise<void> {
    const asked = [...this.starts].map(([client, { answered, failed }]) =>
      answeredInTime(`Conductor at ${client.url}`, client.isHealthy()).then(answered, failed),
    );
    await Promise.all(asked);
  }

  private clientOf(ref: EngineRunRef): ConductorClient {
    return this.deps.instances.at(ref.provider === 'conductor' ? ref.conductorUrl : undefined);
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

const pausedThere = (workflowId: string): string =>
  `somebody paused the run ${workflowId} in Conductor. Resume it there: PUT /api/workflow/${workflowId}/resume`;

/** Null: the server is well. */
async function problemOf(client: ConductorClient): Promise<string | null> {
  try {
    const isHealthy = await answeredInTime(`Conductor at ${client.url}`, client.isHealthy());
    return isHealthy ? null : `Conductor at ${client.url} says that it is not healthy`;
  } catch (error) {
    return (error as Error).message;
  }
}
