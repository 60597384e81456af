// Runs of execution plans: a plan that was handed over becomes a version of the workflow with its planId, and the
// run an execution of it. The same runId gives the same run.

import { detectFormat } from '../core/definition/compile.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isUuid } from '../core/id/id.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { Driver } from '../protocol/driver.ts';
import type { Quotas } from '../quota/quotas.ts';
import type { Actor } from '../store/audit-port.ts';
import type { StartHold } from '../store/port.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import { invalid } from '../workflow/workflow-check.ts';
import type { Workflows } from '../workflow/workflows.ts';
import type { ExecutionQueries } from './execution-queries.ts';
import type { Executions } from './executions.ts';
import type { StartRequest } from './start/execution-start.ts';
import { checkStartRequest } from './start/start-request.ts';
import { requestIdTaken } from './start/starter.ts';

export interface PlanRunsDeps {
  readonly executions: Executions;
  readonly queries: ExecutionQueries;
  readonly workflows: Pick<Workflows, 'checkPlan' | 'publishPlan' | 'publishedPlan'>;
  readonly quotas: Pick<Quotas, 'runRefusal'>;
}

export interface RunRequest {
  readonly tenantId: string;
  readonly plan: JsonObject;
  readonly runId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly driver?: Driver | undefined;
  readonly inputs?: Json | undefined;
  readonly principal: Json;
  /** Who publishes the plan, if it is not what its workflow is already. */
  readonly by: Actor;
  /** False: only a version that is published already may run, and none becomes the current one. */
  readonly mayPublish: boolean;
  /** Asked before the plan is published: rejects when there were too many starts, or says for how long to hold this one. */
  readonly admit?: ((start: StartRequest) => Promise<StartHold | undefined>) | undefined;
  readonly correlationId?: string | undefined;
  readonly traceparent?: string | undefined;
}

export interface StartedRun {
  readonly runId: string;
  readonly executionId: string;
  readonly isNew: boolean;
  /** What of the plan is not as its planner may think. */
  readonly warnings: readonly Problem[];
  /** A rate limit lets it start later. */
  readonly hold?: StartHold | undefined;
}

export class PlanRuns {
  private readonly deps: PlanRunsDeps;

  constructor(deps: PlanRunsDeps) {
    this.deps = deps;
  }

  async start(request: RunRequest): Promise<StartedRun> {
    const { tenantId, plan, runId, by } = request;
    const { executions, queries, workflows, quotas } = this.deps;
    requirePlan(plan);
    requireScope(plan, tenantId);
    // Before the run is looked for: what fills the quota may be the same run, started at the same moment.
    const quotaRefusal = await quotas.runRefusal(tenantId);
    const earlier = runId === undefined ? null : await queries.findByRequest(tenantId, runId);
    if (earlier !== null && isRunOf(plan, earlier)) {
      return { runId: earlier.requestId!, executionId: earlier.executionId, isNew: false, warnings: [] };
    }
    const checked = await workflows.checkPlan(tenantId, plan);
    const wanted = startOf(request, checked.stored.workflowId);
    // What is known to refuse the run refuses it here: a plan that does not run must not become the current version.
    if (earlier !== null && earlier.workflowId !== wanted.workflowId) throw requestIdTaken(runId!, earlier.workflowId);
    checkStartRequest(wanted);
    if (quotaRefusal !== null) throw quotaRefusal;
    const hold = await request.admit?.(wanted);
    const version = request.mayPublish
      ? await workflows.publishPlan(checked, by)
      : await workflows.publishedPlan(checked);
    const { executionId, isNew } = await executions.start({ ...wanted, version, hold });
    return { runId: runId ?? executionId, executionId, isNew, warnings: checked.warnings, hold };
  }

  /**
   * A run whose plan could not be fetched has failed: it is there under its runId, with events, and with the category VALIDATION. Its
   * workflow is a stand-in, because nobody knows the plan.
   */
  async fail(
    request: Omit<RunRequest, 'plan' | 'mayPublish'> & { readonly runId: string },
    message: string,
  ): Promise<string> {
    const { tenantId, runId: requestId, principal, by } = request;
    const projectId = request.projectId ?? 'default';
    const environmentId = request.environmentId ?? 'default';
    const plan = unfetchedPlan(tenantId);
    const version = await this.deps.workflows.publishPlan(await this.deps.workflows.checkPlan(tenantId, plan), by);
    const wanted = { tenantId, workflowId: UNFETCHED, requestId, principal, projectId, environmentId, version };
    return (await this.deps.executions.start({ ...wanted, trigger: { message } })).executionId;
  }

  /** By the runId that the caller chose, or the execution's own id. */
  async find(tenantId: string, runId: string): Promise<ExecutionView> {
    const { queries } = this.deps;
    try {
      return await queries.find(tenantId, { requestId: runId });
    } catch (error) {
      if (!(error instanceof PawlError) || !isUuid(runId)) throw error;
      return queries.get(tenantId, runId);
    }
  }
}

const UNFETCHED = 'pawl-plan-fetch';

/** One step, which fails with what fetching the plan came to. The scope of the version says nothing: a run has its own. */
function unfetchedPlan(tenantId: string): JsonObject {
  const inputs = { code: 'PLAN_UNAVAILABLE', message: '{{ inputs.message }}' };
  return {
    metadata: {
      ...{ planId: UNFETCHED, planVersion: '1', schemaVersion: 'v1' },
      ...{ createdAt: '1970-01-01T00:00:00Z', createdBy: 'pawl' },
    },
    scope: { tenantId, projectId: 'default', environmentId: 'default', repoSha: 'none' },
    steps: [{ stepId: 'fetchPlan', type: 'core.fail', inputs, timeout: '10s' }],
  };
}

function requireScope({ scope }: JsonObject, tenantId: string): void {
  const named = isJsonObject(scope) ? scope.tenantId : undefined;
  if (named === undefined || named === tenantId) return;
  const message = `scope.tenantId of the plan is ${JSON.stringify(named)}, and the run is of tenant "${tenantId}"`;
  throw new PawlError('TENANT_MISMATCH', message);
}

/** A run of a graph or a pipeline of that name is not: publishing says so. */
function isRunOf({ metadata }: JsonObject, { workflowId, format }: ExecutionView): boolean {
  return isJsonObject(metadata) && metadata.planId === workflowId && format === 'plan';
}

function startOf(request: RunRequest, workflowId: string): StartRequest {
  const { tenantId, plan, runId, inputs, principal, correlationId, traceparent } = request;
  const scope = plan.scope as JsonObject;
  return {
    tenantId,
    workflowId,
    principal,
    projectId: request.projectId ?? String(scope.projectId),
    environmentId: request.environmentId ?? String(scope.environmentId),
    ...(request.driver === undefined ? {} : { driver: request.driver }),
    ...(runId === undefined ? {} : { requestId: runId }),
    ...(inputs === undefined ? {} : { trigger: inputs }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** A graph or a pipeline has no scope to run in. What is nothing at all is the compiler's to say. */
function requirePlan(definition: JsonObject): void {
  const format = detectFormat(definition);
  if (format === null || format === 'plan') return;
  const message = `this is a ${format}, not an execution plan`;
  const suggestion = 'publish it as a workflow and execute that';
  throw invalid([{ code: 'NOT_A_PLAN', path: '', message, suggestion }]);
}
