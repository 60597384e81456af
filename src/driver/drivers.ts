// The engines of an installation: chooses one for an execution, and is the only access to each. The native one always exists.

import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Problem } from '../core/problem/problem.ts';
import { type Driver, type EngineRunRef, nativeRef, parseRef } from '../protocol/driver.ts';
import type { OutsideDriver } from '../store/external-port.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import { asProgram } from '../store/tenant-scope.ts';
import type { EngineHealth, OutsideEngine, WorkflowEngine } from './driver.ts';
import { chooseDriver, type DriverOptions, type DriverWish, requireConfigured } from './driver-choice.ts';
import type { HandOver } from './hand-over.ts';

export interface OutsideDriving {
  readonly engine: OutsideEngine;
  readonly handOver: HandOver;
}

export interface DriversDeps {
  readonly options: DriverOptions & { readonly whenDown: 'queue' | 'reject' };
  readonly native: WorkflowEngine;
  readonly outside: ReadonlyMap<OutsideDriver, OutsideDriving>;
  readonly planOf: (version: { tenantId: string; workflowId: string; version: number }) => Promise<Plan | null>;
}

/** The epoch of an execution that was never handed over. */
const FIRST_EPOCH = 1;

export class Drivers {
  private readonly deps: DriversDeps;
  readonly configured: ReadonlySet<Driver>;

  constructor(deps: DriversDeps) {
    this.deps = deps;
    this.configured = new Set<Driver>(['native', ...deps.outside.keys()]);
  }

  /** undefined: the native engine. */
  choose(wish: DriverWish): OutsideDriver | undefined {
    const driver = requireConfigured(chooseDriver(this.deps.options, wish), this.configured);
    if (driver === 'native') return undefined;
    this.admit(driver, wish.environmentId);
    return driver;
  }

  /** Features that the named or default engine does not support. An unconfigured engine is refused at start. */
  problems(plan: Plan, named: Json | undefined): Problem[] {
    const driver = typeof named === 'string' ? named : this.deps.options.default;
    return this.deps.outside.get(driver as OutsideDriver)?.engine.validate(plan) ?? [];
  }

  /** Throws if the engine does not support this version. */
  async requireSupported(driver: OutsideDriver, version: Parameters<DriversDeps['planOf']>[0]): Promise<void> {
    const plan = await this.deps.planOf(version);
    const problems = plan === null ? [] : this.engine(driver).validate(plan);
    if (problems.length === 0) return;
    throw new PawlError(
      'UNSUPPORTED_BY_ENGINE',
      `${driver} cannot run this workflow: ${problems[0]!.message}`,
      problems,
    );
  }

  /** A hint: an execution may wait to be handed over. */
  wanted(): void {
    asProgram(() => {
      for (const { handOver } of this.deps.outside.values()) handOver.hint();
    });
  }

  /** An execution on another engine has mail. */
  mailCame(executionId: string): void {
    asProgram(() => {
      for (const { handOver } of this.deps.outside.values()) void handOver.mail(executionId);
    });
  }

  engine(driver: Driver): WorkflowEngine {
    const { native, outside } = this.deps;
    if (driver === 'native') return native;
    requireConfigured(driver, this.configured);
    return outside.get(driver)!.engine;
  }

  /** undefined: it waits to be handed over, and has no reference yet. */
  refOf({ driver, engineRunRef, tenantId, executionId: runId, ...view }: ExecutionView): EngineRunRef | undefined {
    if (driver === undefined || driver === null) return nativeRef(tenantId, runId);
    if (engineRunRef !== null) return parseRef(engineRunRef);
    const { projectId, environmentId } = view;
    return this.deps.outside
      .get(driver)
      ?.engine.expectedRef?.({ runId, epoch: FIRST_EPOCH, tenantId, projectId, environmentId });
  }

  async health(): Promise<ReadonlyMap<OutsideDriver, EngineHealth>> {
    const asked = [...this.deps.outside].map(async ([driver, { engine }]) => [driver, await engine.health()] as const);
    return new Map(await Promise.all(asked));
  }

  async stop(): Promise<void> {
    for (const { handOver, engine } of this.deps.outside.values()) {
      await handOver.stop();
      await engine.close();
    }
  }

  /** Refuses starts while the engine is too slow, or unreachable if `whenDown` is `reject`. */
  private admit(driver: OutsideDriver, environmentId: string): void {
    const refusal = this.deps.outside.get(driver)!.engine.startsAt(environmentId).refusal();
    if (refusal === null || (refusal.reason === 'down' && this.deps.options.whenDown === 'queue')) return;
    const what = refusal.reason === 'down' ? 'does not answer' : 'takes more than five seconds to start a run';
    throw new PawlError('ENGINE_UNAVAILABLE', `${driver} ${what}; try again later`, {
      retryAfterSeconds: refusal.retryAfterS,
    });
  }
}
