// Runs of execution plans (004 §2.1): a plan that was handed over becomes a version of the workflow with its planId, and the
// run an execution of it. The same runId gives the same run.

import { detectFormat } from '../../core/definition/compile.ts';
import type { Problem } from '../../core/definition/problem.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isUuid } from '../../core/id/id.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import { invalid } from '../workflow/workflow-check.ts';
import type { Workflows } from '../workflow/workflows.ts';
import type { ExecutionQueries } from './execution-queries.ts';
import type { Executions } from './executions.ts';

export interface PlanRunsDeps {
  readonly executions: Executions;
  readonly queries: ExecutionQueries;
  readonly workflows: Pick<Workflows, 'publishPlan'>;
}

export interface RunRequest {
  readonly tenantId: string;
  readonly plan: JsonObject;
  readonly runId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly inputs?: Json | undefined;
  readonly principal: Json;
  readonly correlationId?: string | undefined;
  readonly traceparent?: string | undefined;
}

export interface StartedRun {
  readonly runId: string;
  readonly executionId: string;
  readonly isNew: boolean;
  /** What of the plan is not as its planner may think. */
  readonly warnings: readonly Problem[];
}

export class PlanRuns {
  private readonly deps: PlanRunsDeps;

  constructor(deps: PlanRunsDeps) {
    this.deps = deps;
  }

  async start(request: RunRequest): Promise<StartedRun> {
    const { tenantId, plan, runId, inputs, principal, correlationId, traceparent } = request;
    requirePlan(plan);
    const scope = isJsonObject(plan.scope) ? plan.scope : {};
    if (scope.tenantId !== undefined && scope.tenantId !== tenantId) {
      throw new PawlError('TENANT_MISMATCH', 'the scope of the plan is another tenant');
    }
    const earlier = runId === undefined ? null : await this.earlierRun(tenantId, runId, plan);
    if (earlier !== null)
      return { runId: earlier.requestId!, executionId: earlier.executionId, isNew: false, warnings: [] };
    const { workflowId, version, warnings } = await this.deps.workflows.publishPlan(tenantId, plan);
    const { executionId, isNew } = await this.deps.executions.start({
      tenantId,
      workflowId,
      version,
      principal,
      projectId: request.projectId ?? String(scope.projectId),
      environmentId: request.environmentId ?? String(scope.environmentId),
      ...(runId === undefined ? {} : { requestId: runId }),
      ...(inputs === undefined ? {} : { trigger: inputs }),
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(traceparent === undefined ? {} : { traceparent }),
    });
    return { runId: runId ?? executionId, executionId, isNew, warnings };
  }

  /** Found before anything is published: a plan that does not run must not become the current version. */
  private async earlierRun(tenantId: string, runId: string, plan: JsonObject): Promise<ExecutionView | null> {
    const view = await this.deps.queries.findByRequest(tenantId, runId);
    const planId = isJsonObject(plan.metadata) ? plan.metadata.planId : undefined;
    // Of another workflow: starting it says so (WFENG001). Of one that is no plan: publishing does.
    return view !== null && view.workflowId === planId && view.format === 'plan' ? view : null;
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

/** A graph or a pipeline has no scope to run in. What is nothing at all is the compiler's to say. */
function requirePlan(definition: JsonObject): void {
  const format = detectFormat(definition);
  if (format === null || format === 'plan') return;
  const message = `this is a ${format}, not an execution plan`;
  const suggestion = 'publish it as a workflow and execute that';
  throw invalid([{ code: 'NOT_A_PLAN', path: '', message, suggestion }]);
}
