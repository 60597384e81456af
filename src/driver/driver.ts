// The engine boundary: what runs a plan. PostgreSQL stays the one truth in every case. A driver decides where the waiting happens and who
// runs the attempts; it never decides what happens next. Cancels and signals go into our store first (authorised, deduplicated,
// audited), and the driver is only told that there is mail.

import type { SignalType } from '../core/decider/signal-type.ts';
import type { JsonObject } from '../core/json/json.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { Driver, EngineRunRef } from '../protocol/driver.ts';
import type { PlanRef } from '../protocol/engine-run.ts';
import type { StartLatency } from './start-latency.ts';

export interface WorkflowEngine {
  readonly provider: Driver;
  /** What this engine cannot do of a plan (UNSUPPORTED_BY_ENGINE): asked at publish and at start. */
  validate(plan: Plan): Problem[];
  /** Hands an accepted execution over. The same execution and epoch handed over again are the same run. */
  startRun(plan: Pick<PlanRef, 'planId' | 'planVersion'>, context: RunContext): Promise<EngineRunRef>;
  cancelRun(ref: EngineRunRef, options: { reason?: string; terminate?: boolean }): Promise<void>;
  getRunStatus(ref: EngineRunRef): Promise<RunStatusSnapshot>;
  /** Once for each signalId. */
  signal(ref: EngineRunRef, signal: Signal): Promise<SignalOutcome>;
  health(): Promise<EngineHealth>;
}

/** An engine outside of our process. */
export interface OutsideEngine extends WorkflowEngine {
  /** The name of the run in the engine; absent: the name is unknown before the run is handed over. */
  expectedRef?(context: RunContext): EngineRunRef;
  /** There is mail for the run: it takes a turn. Losing this costs time, and nothing else. */
  mail(ref: EngineRunRef): Promise<void>;
  /** Whether a worker recently polled this task queue. Absent: unknown. */
  isServed?(ref: EngineRunRef, taskQueue: string): Promise<boolean>;
  /** The starts at the server that new runs of this environment go to. */
  startsAt(environmentId: string): StartLatency;
  /** Asks every server of the engine whether it is there, and notes the answers with its starts. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RunPlace {
  readonly tenantId: string;
  readonly projectId: string;
  readonly environmentId: string;
}

export interface RunContext extends RunPlace {
  /** The execution's id. */
  readonly runId: string;
  readonly epoch: number;
}

export interface Signal {
  readonly signalId: string;
  readonly type: SignalType;
  readonly payload: JsonObject;
}

export interface SignalOutcome {
  /** It was seen before, and is not applied again. */
  readonly repeated: boolean;
}

/** The engine's own status of a run; the execution's status is in our store. */
export interface RunStatusSnapshot {
  /** `absent`: the engine does not know the run, or no longer. `foreign`: its name belongs to something that is not ours. */
  readonly state: 'running' | 'ended' | 'absent' | 'foreign';
  /** In the engine's own words. */
  readonly providerStatus: string;
  readonly reason?: string;
  /** Why a run that is there does not go on, and the next step. */
  readonly heldUp?: string;
}

export interface EngineHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly detail?: string;
  /** By names of the engine boundary's health contract. */
  readonly numbers: Readonly<Record<string, number | string>>;
}

/** The engine was asked, and will never run this: the execution fails with the reason. */
export class EngineRefusalError extends Error {
  override readonly name = 'EngineRefusalError';
}

/** The engine cannot be reached, or does not take runs now: they wait, and are handed over later. */
export class EngineUnavailableError extends Error {
  override readonly name = 'EngineUnavailableError';
}
