// Runs of execution plans: handing one over, and the debug endpoints of 004 §8.1, which read and change nothing.

import { z } from 'zod';
import { errorCategory } from '../../core/error/category.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { ExecutionQueries } from '../../engine/execution/execution-queries.ts';
import type { Inspection } from '../../engine/execution/inspection.ts';
import type { PlanRuns } from '../../engine/execution/plan-runs.ts';
import {
  artifactRefSchema,
  RUN_STATES,
  runDebugSchema,
  runId,
  runInspectionSchema,
  startRunAnswer,
  startRunRequest,
  stepLogsSchema,
} from '../../protocol/engine-run.ts';
import { isTenantId } from '../../protocol/identifier.ts';
import type { WorkflowStore } from '../../store/port.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import { principalFor } from '../auth/principal.ts';
import { traceOf } from '../correlation.ts';
import { presentAttempt, presentEvent, presentExecution, presentGraph, presentLink } from '../present/execution.ts';
import type { ReferencedPlans } from '../referenced-plans.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export interface EngineRunRoutesDeps {
  readonly runs: PlanRuns;
  readonly queries: ExecutionQueries;
  readonly plans: ReferencedPlans;
  readonly workflows: Pick<WorkflowStore, 'definitionGet'>;
}

const params = z.object({ runId });
const common = { tag: 'Plans', notFound: 'EXECUTION_NOT_FOUND' } as const;
const MAX_LINES = 200;
const ALL_EVENTS = 100_000;

export function engineRunRoutes(deps: EngineRunRoutesDeps): RouteSpec[] {
  return [startRoute(deps), debugRoute(deps), logsRoute(deps), inspectRoute(deps)];
}

function startRoute({ runs, plans }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/engine/runs',
    access: 'workflows:execute',
    summary: 'Run an execution plan, given or by reference',
    body: startRunRequest,
    responses: { 200: startRunAnswer, 202: startRunAnswer },
    async handle({ body: { plan: given, planRef, context, inputs }, caller, by, headers, givenCorrelationId }) {
      const plan = planRef === undefined ? given : await plans.get(caller.tenantId, planRef, new Date());
      const started = await runs.start({
        ...context,
        tenantId: caller.loose ? tenantOf(plan, caller.tenantId) : caller.tenantId,
        plan: plan as JsonObject,
        inputs: inputs as Json | undefined,
        principal: principalFor(caller, undefined) as unknown as Json,
        by,
        correlationId: givenCorrelationId,
        ...traceOf(headers),
      });
      const { executionId, warnings } = started;
      const statusUrl = `/api/v1/executions/${executionId}`;
      const body = {
        runId: started.runId,
        engineRunRef: engineRunRef(executionId),
        statusUrl,
        ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
      };
      return { status: started.isNew ? 202 : 200, headers: { location: statusUrl }, body };
    },
  });
}

/** Where nobody proved who they are, the plan's own scope says whose it is. */
function tenantOf(plan: Record<string, unknown> | undefined, otherwise: string): string {
  const named = (plan?.scope as { tenantId?: unknown } | undefined)?.tenantId;
  return typeof named === 'string' && isTenantId(named) ? named : otherwise;
}

function debugRoute({ runs, queries, workflows }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/engine/runs/:runId/debug',
    access: 'workflows:read',
    summary: 'The engine reference of a run and what it maps to',
    params,
    responses: { 200: runDebugSchema },
    async handle({ params: { runId: id }, caller }) {
      const view = await runs.find(caller.tenantId, id);
      const { events } = await queries.events(view, { afterSeq: -1, limit: ALL_EVENTS });
      const run = await presentRun(workflows, id, view);
      return { status: 200, body: { ...run, lastSeq: events.at(-1)?.seq ?? -1 } };
    },
  });
}

function logsRoute({ runs, queries }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/engine/runs/:runId/steps/:stepId/logs',
    access: 'workflows:read',
    summary: 'Where the log of a step is, and its latest lines',
    params: z.object({ runId, stepId: z.string().min(1).max(200) }),
    responses: { 200: stepLogsSchema },
    async handle({ params: { runId: id, stepId }, caller }) {
      const view = await runs.find(caller.tenantId, id);
      const { events } = await queries.events(view, { afterSeq: -1, limit: ALL_EVENTS });
      const lines = events.filter(({ type, nodeId }) => type === 'Log' && nodeId === stepId);
      if (lines.length === 0) await requireStep(queries, view, stepId);
      const pointers = [`/api/v1/executions/${view.executionId}/events`];
      return { status: 200, body: { runId: id, stepId, pointers, lines: lines.slice(-MAX_LINES).map(presentEvent) } };
    },
  });
}

function inspectRoute({ runs, queries, workflows }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: '/engine/runs/:runId/inspect',
    access: 'workflows:read',
    summary: 'A snapshot: state, artifacts and what the provider says',
    params,
    responses: { 200: runInspectionSchema },
    async handle({ params: { runId: id }, caller }) {
      const view = await runs.find(caller.tenantId, id);
      const inspection = await queries.inspect(view.tenantId, view.executionId);
      const actions = (await queries.attempts(view)).map(presentAttempt);
      const resources = (await queries.links(view)).map(presentLink);
      const execution = { ...presentExecution(view), actions, resources };
      const run = await presentRun(workflows, id, view);
      const artifacts = artifactsOf(inspection);
      return { status: 200, body: { run, execution, graph: presentGraph(inspection), artifacts } };
    },
  });
}

const engineRunRef = (executionId: string) => ({ provider: 'native' as const, executionId });

async function presentRun(workflows: EngineRunRoutesDeps['workflows'], id: string, view: ExecutionView) {
  const { executionId, workflowId, version, status, tenantId, projectId, environmentId } = view;
  const { error } = presentExecution(view);
  return {
    runId: id,
    engineRunRef: engineRunRef(executionId),
    planId: workflowId,
    planVersion: await planVersionOf(workflows, view),
    workflowId,
    version,
    status: status as keyof typeof RUN_STATES,
    providerStatus: RUN_STATES[status as keyof typeof RUN_STATES],
    tenantId,
    projectId,
    environmentId,
    ...(error === undefined ? {} : { error: { ...error, category: errorCategory(error.code) } }),
  };
}

/** As the planner named it. What is no execution plan is known by our version. */
async function planVersionOf(
  workflows: EngineRunRoutesDeps['workflows'],
  { tenantId, workflowId, version }: ExecutionView,
): Promise<string> {
  const row = await workflows.definitionGet({ tenantId, workflowId, version });
  const { metadata } = JSON.parse(row?.definition ?? '{}') as JsonObject;
  const named = isJsonObject(metadata) ? metadata.planVersion : undefined;
  return typeof named === 'string' ? named : String(shownVersion(version));
}

async function requireStep(queries: ExecutionQueries, view: ExecutionView, stepId: string): Promise<void> {
  const { state } = await queries.inspect(view.tenantId, view.executionId);
  if (state.plan.nodes.some(({ id }) => id === stepId)) return;
  throw new PawlError('NOT_FOUND', `the run has no step "${stepId}"`);
}

/** What steps point to in the outputs they have now (004 §19.2). */
function artifactsOf({ outputs }: Inspection): (z.infer<typeof artifactRefSchema> & { stepId: string })[] {
  return [...outputs].flatMap(([stepId, output]) => {
    const refs = isJsonObject(output) && Array.isArray(output.artifactRefs) ? output.artifactRefs : [];
    return refs.flatMap((ref) => {
      const { success, data } = artifactRefSchema.safeParse(ref);
      return success ? [{ ...data, stepId }] : [];
    });
  });
}
