// Starts executions: chooses the version, checks the payload, and selects the way in. An execution is accepted when its row is
// durable (I1); a repeated request gets the same execution.

import { SharedLookup } from '../../clock/shared-lookup.ts';
import type { Timers } from '../../clock/timers.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import type { Driver } from '../../protocol/driver.ts';
import { workflowRef } from '../../protocol/workflow.ts';
import type { OutsideDriver } from '../../store/external-port.ts';
import { type HintedLane, hintedLanes } from '../../store/hint-port.ts';
import type { NewExecution, StartHold, Store } from '../../store/port.ts';
import type { PlanSource, VersionKey } from '../../workflow/plan-cache.ts';
import type { SchemaCheck } from '../../workflow/schema-check.ts';
import { TriggerCheck } from '../../workflow/trigger-check.ts';
import { triggerFor, type VersionRequest, type VersionToStart, versionToStart } from '../../workflow/workflow-start.ts';
import { EarlyWaits } from './early-waits.ts';
import { LimitedStarter } from './limited-starter.ts';
import { StartGate } from './start-gate.ts';
import { checkStartRequest } from './start-request.ts';
import { type Adopt, requestIdTaken, StaleVersionError, type Started, Starter } from './starter.ts';

export interface StartRequest {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version?: number;
  readonly trigger?: Json;
  readonly spec?: Json;
  readonly principal?: Json;
  readonly priority?: number;
  readonly requestId?: string;
  readonly correlationId?: string;
  readonly projectId?: string;
  readonly environmentId?: string;
  /** The requested driver; absent: the workflow, its environment or the installation decides. */
  readonly driver?: Driver;
  /** The caller's W3C trace context; the execution's spans join that trace. */
  readonly traceparent?: string;
  /** A rate limit delays the start. */
  readonly hold?: StartHold | undefined;
}

export interface ExecutionStartDeps {
  readonly store: Store;
  readonly plans: PlanSource;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly wallClockMs: () => number;
  readonly schemas: SchemaCheck;
  /** Whether a Draft may run (version 0); default false. */
  readonly allowDraftExecution?: boolean;
  /** Whether a start of this tenant needs a look at its quota; absent: never. */
  readonly limitsRuns?: (tenantId: string) => boolean | Promise<boolean>;
  /** Called for every execution that was started here and is durable. */
  readonly accepted?: (execution: NewExecution) => void;
  readonly adopt?: Adopt;
  /** The outside engines; absent: none. */
  readonly drivers?: StartDrivers;
  /** There may be work: in these lanes, or in unknown ones. */
  readonly workWanted: (lanes?: readonly HintedLane[]) => void;
}

export interface StartDrivers {
  /** undefined: the native engine. Throws when the chosen one does not exist or accepts nothing now. */
  choose(wish: {
    environmentId: string;
    wished: Driver | undefined;
    ofWorkflow: string | null;
  }): OutsideDriver | undefined;
  /** Throws UNSUPPORTED_BY_ENGINE when the engine does not support this version. */
  requireSupported?(driver: OutsideDriver, version: VersionKey): Promise<void>;
  /** A hint: an execution waits to be handed over. */
  wanted(): void;
}

export const SYSTEM_PRINCIPAL = { userId: 'system', displayName: 'System', email: null };
const DEFAULT_PRIORITY = 5;
const MAX_KNOWN = 50_000;

export class ExecutionStart {
  private readonly deps: ExecutionStartDeps;
  readonly gate: StartGate;
  private readonly starter: Starter;
  private readonly limitedStarter: LimitedStarter;
  private readonly externalStarter: Starter;
  /** Starts with a later time: they give no runner work now. */
  private readonly heldStarter: Starter;
  /** The driver that each version asks for: a version never changes. While it is being read, everybody waits for one answer. */
  private readonly driversOfVersions = new Map<string, string | null | Promise<string | null>>();
  private readonly triggers: TriggerCheck;
  private readonly earlyWaits: EarlyWaits;
  private readonly versions: SharedLookup<VersionToStart>;
  /** The last known current version: a guess that the insert itself checks. */
  private readonly lastKnown = new Map<string, VersionToStart>();

  constructor(deps: ExecutionStartDeps) {
    this.deps = deps;
    this.gate = new StartGate(deps.timers);
    this.starter = new Starter(deps.store, deps.timers, deps.workWanted, deps.adopt);
    this.limitedStarter = new LimitedStarter(deps.store);
    this.externalStarter = new Starter(deps.store, deps.timers, () => deps.drivers?.wanted());
    this.heldStarter = new Starter(deps.store, deps.timers, () => {});
    this.triggers = new TriggerCheck(deps.store, deps.schemas);
    this.earlyWaits = new EarlyWaits(deps);
    const allowDraft = deps.allowDraftExecution ?? false;
    this.versions = new SharedLookup((key) =>
      versionToStart(deps.store, JSON.parse(key) as VersionRequest, allowDraft),
    );
  }

  async start(request: StartRequest): Promise<Started> {
    checkStartRequest(request);
    return this.gate.pass(() => this.startOnce(request));
  }

  private async startOnce(request: StartRequest): Promise<Started> {
    try {
      return await this.startNew(request);
    } catch (error) {
      const started = error instanceof PawlError ? await this.startedBefore(request) : null;
      if (started === null) throw error;
      return started;
    }
  }

  /**
   * An accepted request stays accepted, whatever happened to its workflow since, and its id stays taken for other workflows
   * too.
   */
  private async startedBefore({ tenantId, workflowId, requestId }: StartRequest): Promise<Started | null> {
    if (requestId === undefined) return null;
    const executionId = await this.deps.store.executionByRequest({ tenantId, requestId });
    if (executionId === null) return null;
    const existing = await this.deps.store.executionGet({ tenantId, executionId });
    if (existing === null) return null;
    if (existing.workflowId === (await this.nameOf(tenantId, workflowId))) return { executionId, isNew: false };
    throw requestIdTaken(requestId, existing.workflowId);
  }

  private async nameOf(tenantId: string, workflowId: string): Promise<string | undefined> {
    const ref = workflowRef(workflowId);
    return 'uid' in ref ? (await this.deps.store.workflowFind({ tenantId, ref }))?.workflowId : ref.workflowId;
  }

  private async startNew(request: StartRequest): Promise<Started> {
    const { tenantId, workflowId, version } = request;
    const key = JSON.stringify({ tenantId, workflowId, version } satisfies VersionRequest);
    const guess = version === undefined ? this.lastKnown.get(key) : undefined;
    const guessed = guess === undefined ? null : await this.startGuessed(request, guess);
    if (guessed !== null && 'executionId' in guessed) return guessed;
    const found = await this.versions.get(key);
    if (version === undefined && found.version > 0) this.remember(key, found);
    // A refusal by the guessed version counts only if that is the version to start.
    if (guessed !== null && guessed.refusal !== null && guess?.version === found.version) throw guessed.refusal;
    return this.startVersion(request, found, false);
  }

  private async startGuessed(
    request: StartRequest,
    guess: VersionToStart,
  ): Promise<Started | { refusal: PawlError | null }> {
    try {
      return await this.startVersion(request, guess, true);
    } catch (error) {
      if (error instanceof StaleVersionError) return { refusal: null };
      if (error instanceof PawlError) return { refusal: error };
      throw error;
    }
  }

  private remember(key: string, found: VersionToStart): void {
    this.lastKnown.set(key, found);
    if (this.lastKnown.size > MAX_KNOWN) this.lastKnown.delete(this.lastKnown.keys().next().value!);
  }

  /** `ifCurrent`: the version is a guess, so the insert checks it. */
  private async startVersion(
    request: StartRequest,
    { workflowId, version, format }: VersionToStart,
    ifCurrent: boolean,
  ): Promise<Started> {
    const { tenantId } = request;
    const trigger = triggerFor(format, request.trigger);
    const triggerText = JSON.stringify(trigger);
    await this.triggers.check({ tenantId, workflowId, version }, trigger, triggerText);
    const environmentId = request.environmentId ?? 'default';
    const ofWorkflow = await this.driverOf({ tenantId, workflowId, version });
    const driver = this.deps.drivers?.choose({ environmentId, wished: request.driver, ofWorkflow });
    if (driver !== undefined) await this.deps.drivers?.requireSupported?.(driver, { tenantId, workflowId, version });
    const executionId = this.deps.newId();
    const item: NewExecution = {
      executionId,
      tenantId,
      workflowId,
      version,
      format,
      priority: request.priority ?? DEFAULT_PRIORITY,
      trigger: triggerText,
      spec: request.spec === undefined ? null : JSON.stringify(request.spec),
      principal: JSON.stringify(request.principal ?? SYSTEM_PRINCIPAL),
      correlationId: request.correlationId ?? executionId,
      requestId: request.requestId ?? executionId,
      parentId: null,
      parentNode: null,
      depth: 0,
      projectId: request.projectId ?? 'default',
      environmentId,
      createdAt: this.deps.wallClockMs(),
      ifCurrent,
      traceparent: request.traceparent ?? null,
      driver,
      hold: request.hold,
    };
    const started = await this.admit(item);
    if (started.isNew) this.deps.accepted?.(item);
    await this.earlyWaits.subscribe(item, started.executionId);
    return started;
  }

  /** Read once per version. */
  private async driverOf(version: { tenantId: string; workflowId: string; version: number }): Promise<string | null> {
    const key = `${version.version}:${version.tenantId}:${version.workflowId}`;
    const known = this.driversOfVersions.get(key);
    if (known !== undefined) return known;
    const reading = this.deps.store.definitionDriver(version);
    this.driversOfVersions.set(key, reading);
    try {
      const driver = await reading;
      this.driversOfVersions.set(key, driver);
      if (this.driversOfVersions.size > MAX_KNOWN)
        this.driversOfVersions.delete(this.driversOfVersions.keys().next().value!);
      return driver;
    } catch (error) {
      this.driversOfVersions.delete(key);
      throw error;
    }
  }

  private async admit(item: NewExecution): Promise<Started> {
    if (await this.deps.limitsRuns?.(item.tenantId)) {
      const started = await this.limitedStarter.start(item);
      if ((item.driver ?? null) === null) this.deps.workWanted(hintedLanes([item]));
      else this.deps.drivers?.wanted();
      return started;
    }
    if ((item.driver ?? null) !== null) return this.externalStarter.start(item);
    return (item.hold === undefined ? this.starter : this.heldStarter).start(item);
  }
}
