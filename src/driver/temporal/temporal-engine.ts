// Temporal as an engine: hands runs over, signals mail, and asks for their status. One workflow stands for one execution at one
// epoch, and its id contains both: handing over twice gives the same run, and a reopened execution is a new run.

import type { WorkflowHandle } from '@temporalio/client';
import { controlQueue } from '../../core/plan/task-queue.ts';
import type { Problem } from '../../core/problem/problem.ts';
import type { EngineRunRef } from '../../protocol/driver.ts';
import {
  type EngineHealth,
  EngineUnavailableError,
  type OutsideEngine,
  type RunContext,
  type RunPlace,
  type RunStatusSnapshot,
  type Signal,
  type SignalOutcome,
} from '../driver.ts';
import { answeredInTime } from '../health-deadline.ts';
import type { RunCommands } from '../run-commands.ts';
import { createStartLatency, type StartLatency } from '../start-latency.ts';
import type { InterpreterLimits } from './interpreter.ts';
import { namespaceOf, retentionOf } from './namespace.ts';
import { loadClientSdk } from './sdk.ts';
import { setUpNamespace } from './setup.ts';
import type { TemporalConnections } from './temporal-connection.ts';
import type { SetupReport, TemporalOptions } from './temporal-options.ts';
import { MissingNamespaceError, MissingSearchAttributeError, temporalProblem } from './temporal-problem.ts';

export const INTERPRETER = 'interpret';
const MAIL = 'mail';
const NOT_FOUND = 5;
/** The number of TASK_QUEUE_TYPE_ACTIVITY. */
const ACTIVITY_QUEUE = 2;
/** Extra time beyond an attempt's own timeout, to stop and to report it. */
const GRACE_MS = 15_000;

export interface TemporalEngineDeps {
  readonly options: TemporalOptions;
  readonly connections: TemporalConnections;
  readonly commands: RunCommands;
  readonly monotonicMs: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** Starts workers at the place of a handed-over run. */
  readonly workAt?: ((places: readonly RunPlace[]) => Promise<void>) | undefined;
}

export class TemporalEngine implements OutsideEngine {
  readonly provider = 'temporal';
  private readonly deps: TemporalEngineDeps;
  private readonly settingUp = new Map<string, Promise<SetupReport>>();

  /** How long Temporal takes to start a run, without one-time costs of connections and namespaces. */
  private readonly latency: StartLatency;

  constructor(deps: TemporalEngineDeps) {
    this.deps = deps;
    this.latency = createStartLatency(deps.monotonicMs);
  }

  /** The interpreter asks our decider, so it supports everything the decider does. */
  validate(): Problem[] {
    return [];
  }

  expectedRef({ runId: executionId, epoch, ...place }: RunContext): EngineRunRef {
    const namespace = namespaceOf(this.deps.options.namespaceTemplate, place);
    const taskQueue = controlQueue(place.environmentId);
    return { provider: 'temporal', namespace, workflowId: `pawl/${executionId}/${epoch}`, taskQueue };
  }

  async startRun(
    { planId, planVersion }: { planId: string; planVersion: string },
    context: RunContext,
  ): Promise<EngineRunRef> {
    const { options } = this.deps;
    const namespace = namespaceOf(options.namespaceTemplate, context);
    try {
      return await this.start(namespace, { planId, planVersion }, context);
    } catch (error) {
      const problem = temporalProblem(error, { ...options, namespace });
      const isSetup = problem instanceof MissingNamespaceError || problem instanceof MissingSearchAttributeError;
      if (!isSetup || !options.autoSetup) throw problem;
    }
    await this.setUp(namespace, context.environmentId);
    return this.start(namespace, { planId, planVersion }, context).catch((error) => {
      throw temporalProblem(error, { ...options, namespace });
    });
  }

  async cancelRun(ref: EngineRunRef, { reason, terminate }: { reason?: string; terminate?: boolean }): Promise<void> {
    await this.deps.commands.cancel(executionOf(ref), reason);
    if (terminate !== true) return this.mail(ref);
    await this.withHandle(ref, (handle) => handle.terminate(reason)).catch((error: unknown) => {
      // The cancel is stored. The run reads it when Temporal is back.
      if (!(error instanceof EngineUnavailableError || isNotFound(error))) throw error;
    });
  }

  async getRunStatus(ref: EngineRunRef): Promise<RunStatusSnapshot> {
    try {
      return await this.withHandle(ref, async (handle) => {
        const { status, type } = await handle.describe();
        if (type !== INTERPRETER) return { state: 'foreign', providerStatus: `a workflow of type ${type}` };
        if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW') {
          return { state: 'running', providerStatus: status.name };
        }
        const reason = status.name === 'TERMINATED' ? await this.terminationReason(ref) : undefined;
        return { state: 'ended', providerStatus: status.name, ...(reason === undefined ? {} : { reason }) };
      });
    } catch (error) {
      if (isNotFound(error)) return { state: 'absent', providerStatus: 'NOT_FOUND' };
      throw error;
    }
  }

  async signal(ref: EngineRunRef, signal: Signal): Promise<SignalOutcome> {
    const outcome = await this.deps.commands.signal(executionOf(ref), signal);
    await this.mail(ref);
    return outcome;
  }

  /** The reconciler notices a run that is gone. */
  async mail(ref: EngineRunRef): Promise<void> {
    try {
      await this.withHandle(ref, (handle) => handle.signal(MAIL));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async isServed(ref: EngineRunRef, name: string): Promise<boolean> {
    if (ref.provider !== 'temporal') return true;
    const { namespace } = ref;
    const connection = await this.deps.connections.forClient();
    const asked = { namespace, taskQueue: { name }, taskQueueType: ACTIVITY_QUEUE };
    const { pollers } = await connection.workflowService.describeTaskQueue(asked);
    return (pollers ?? []).length > 0;
  }

  async health(): Promise<EngineHealth> {
    const { options, connections } = this.deps;
    const namespace = namespaceOf(options.namespaceTemplate, DEFAULT_PLACE);
    const p95 = this.latency.p95Ms();
    const numbers = { namespace, ...(p95 === null ? {} : { startLatencyP95Ms: Math.round(p95) }) };
    try {
      const query = `WorkflowType = '${INTERPRETER}' and ExecutionStatus = 'Running'`;
      const asked = connections
        .forClient()
        .then(({ workflowService }) => workflowService.countWorkflowExecutions({ namespace, query }));
      const { count } = await answeredInTime(`Temporal at ${options.address}`, asked);
      const status = (p95 ?? 0) > 5_000 ? 'degraded' : 'healthy';
      return { status, numbers: { ...numbers, workflowCount: Number(count) } };
    } catch (error) {
      const problem = temporalProblem(error, { ...options, namespace });
      return { status: 'degraded', detail: problem.message, numbers };
    }
  }

  /** One at a time per namespace. */
  setUp(namespace: string, environmentId: string): Promise<SetupReport> {
    const { options, connections, warn } = this.deps;
    const known = this.settingUp.get(namespace);
    if (known !== undefined) return known;
    const { address } = options;
    const retentionDays = retentionOf(options, environmentId);
    const work = setUpNamespace(connections, { namespace, retentionDays, address }).then((report) => {
      if (report.created) warn('made a namespace in Temporal', { ...report });
      return report;
    });
    this.settingUp.set(namespace, work);
    const done = () => this.settingUp.delete(namespace);
    work.then(done, done);
    return work;
  }

  startsAt(): StartLatency {
    return this.latency;
  }

  async ping(): Promise<void> {
    const { connections, options } = this.deps;
    const asked = connections.forClient().then(({ workflowService }) => workflowService.getSystemInfo({}));
    await answeredInTime(`Temporal at ${options.address}`, asked).then(this.latency.answered, this.latency.failed);
  }

  close(): Promise<void> {
    return this.deps.connections.close();
  }

  private async start(
    namespace: string,
    plan: { planId: string; planVersion: string },
    context: RunContext,
  ): Promise<EngineRunRef> {
    const { connections, options, monotonicMs, workAt } = this.deps;
    const { runId: executionId, epoch, tenantId, projectId, environmentId } = context;
    const sdk = await loadClientSdk();
    const client = await connections.client(namespace);
    const expected = this.expectedRef(context);
    const { workflowId } = expected;
    const taskQueue = controlQueue(environmentId);
    const attributes = { tenantId, projectId, environmentId, runId: executionId, ...plan };
    const askedAt = monotonicMs();
    try {
      const handle = await client.workflow.start(INTERPRETER, {
        workflowId,
        taskQueue,
        args: [{ executionId, epoch, limits: interpreterLimits(options) }],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        searchAttributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, [value]])),
      });
      this.latency.took(monotonicMs() - askedAt);
      void workAt?.([context]).catch(() => undefined);
      return { ...expected, runId: handle.firstExecutionRunId };
    } catch (error) {
      // It ran before and has ended. The reconciler sees how.
      if (!(error instanceof sdk.WorkflowExecutionAlreadyStartedError)) throw error;
      return expected;
    }
  }

  private async withHandle<Result>(
    ref: EngineRunRef,
    work: (handle: WorkflowHandle) => Promise<Result>,
  ): Promise<Result> {
    if (ref.provider !== 'temporal') throw new Error(`not a run of Temporal: ${ref.provider}`);
    const { namespace, workflowId } = ref;
    try {
      const client = await this.deps.connections.client(namespace);
      return await work(client.workflow.getHandle(workflowId));
    } catch (error) {
      if (isNotFound(error)) throw error;
      throw temporalProblem(error, { ...this.deps.options, namespace });
    }
  }

  private async terminationReason(ref: EngineRunRef): Promise<string | undefined> {
    if (ref.provider !== 'temporal') return undefined;
    const { namespace, workflowId } = ref;
    const connection = await this.deps.connections.forClient();
    const page = { namespace, execution: { workflowId }, maximumPageSize: 1 };
    const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse(page);
    return history?.events?.[0]?.workflowExecutionTerminatedEventAttributes?.reason || undefined;
  }
}

const DEFAULT_PLACE: RunPlace = { tenantId: 'default', projectId: 'default', environmentId: 'default' };

function interpreterLimits({ heartbeatMs, longestAttemptMs, maxEvents }: TemporalOptions): InterpreterLimits {
  return { heartbeatMs, longestAttemptMs, maxEvents, graceMs: GRACE_MS };
}

/** The workflow id is `pawl/<execution>/<epoch>`. */
function executionOf(ref: EngineRunRef): string {
  return ref.workflowId.split('/')[1] ?? '';
}

function isNotFound(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each.name === 'WorkflowNotFoundError' || (each as { code?: unknown }).code === NOT_FOUND) {
      return !/namespace/i.test(each.message);
    }
  }
  return false;
}
