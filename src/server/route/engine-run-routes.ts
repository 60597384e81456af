// Runs of execution plans: handing one over, and the debug endpoints, which read and change nothing.

import { z } from 'zod';
import { errorCategory } from '../../core/error/category.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { Drivers } from '../../driver/drivers.ts';
import type { ExecutionQueries } from '../../execution/execution-queries.ts';
import type { Executions } from '../../execution/executions.ts';
import type { Inspection } from '../../execution/inspection.ts';
import type { PlanRuns } from '../../execution/plan-runs.ts';
import {
  artifactRefSchema,
  cancelRunRequest,
  RUN_STATES,
  runDebugSchema,
  runId,
  runInspectionSchema,
  startRunAnswer,
  startRunRequest,
  stepLogsSchema,
} from '../../protocol/engine-run.ts';
import { acceptedAnswer } from '../../protocol/execution.ts';
import { isTenantId } from '../../protocol/identifier.ts';
import { signalAnswer, signalRequest } from '../../protocol/signal.ts';
import { SIGNAL_ROLES } from '../../protocol/signal-role.ts';
import type { WorkflowStore } from '../../store/port.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import type { ReferencedPlans } from '../../workflow/referenced-plans.ts';
import { principalFor } from '../auth/principal.ts';
import { requireRole } from '../auth/role.ts';
import { traceOf } from '../correlation.ts';
import { presentAttempts, presentEvent, presentExecution, presentGraph, presentLink } from '../present/execution.ts';
import type { SignalThrottle, WorkflowThrottle } from '../rate-limit.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export interface EngineRunRoutesDeps {
  readonly runs: PlanRuns;
  readonly executions: Executions;
  readonly queries: ExecutionQueries;
  readonly plans: ReferencedPlans;
  readonly workflows: Pick<WorkflowStore, 'definitionGet'>;
  readonly drivers: Drivers;
  readonly throttle: WorkflowThrottle | null;
  readonly signalThrottle: SignalThrottle | null;
}

const params = z.object({ runId });
const common = { tag: 'Plans', notFound: 'EXECUTION_NOT_FOUND' } as const;
const MAX_LINES = 200;
const ALL_EVENTS = 100_000;
const ALL_ATTEMPTS = 10_000;

export function engineRunRoutes(deps: EngineRunRoutesDeps): RouteSpec[] {
  return [
    startRoute(deps),
    cancelRoute(deps),
    signalRoute(deps),
    debugRoute(deps),
    logsRoute(deps),
    inspectRoute(deps),
  ];
}

function startRoute({ runs, plans, drivers, throttle }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/engine/runs',
    access: 'workflows:execute',
    summary:
      'Run an execution plan, given or by reference; a version that is not published yet needs `workflows:manage`',
    body: startRunRequest,
    responses: { 200: startRunAnswer, 202: startRunAnswer },
    async handle({ body: { plan: given, planRef, context, inputs }, caller, by, headers, givenCorrelationId }) {
      const plan = planRef === undefined ? given : await plans.get(caller.tenantId, planRef, new Date());
      const tenantId = caller.loose ? tenantOf(plan, caller.tenantId) : caller.tenantId;
      const started = await runs.start({
        ...context,
        admit: async (workflowId) => {
          const { runId: requestId } = context;
          await throttle?.spend({ tenantId, workflowId, ...(requestId === undefined ? {} : { requestId }) });
        },
        tenantId,
        plan: plan as JsonObject,
        inputs: inputs as Json | undefined,
        principal: principalFor(caller, undefined) as unknown as Json,
        by,
        mayPublish: caller.scopes.has('workflows:manage'),
        correlationId: givenCorrelationId,
        ...traceOf(headers),
      });
      const { executionId, warnings } = started;
      const statusUrl = `/api/v1/executions/${executionId}`;
      const view = await runs.find(tenantId, executionId);
      const body = {
        runId: started.runId,
        ...engineRun(drivers, view),
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

function cancelRoute({ runs, executions, drivers }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/engine/runs/:runId/cancel',
    access: 'workflows:execute',
    summary: 'Cancel a run; with `terminate` also end it in the engine that runs it',
    params,
    body: cancelRunRequest,
    responses: { 200: acceptedAnswer, 202: acceptedAnswer },
    async handle({ params: { runId: id }, body: { reason, terminate }, caller, by }) {
      const view = await runs.find(caller.tenantId, id);
      const { executionId } = view;
      const { repeated } = await executions.cancel(caller.tenantId, executionId, reason, by);
      const ref = drivers.refOf(view);
      if (terminate && ref !== undefined) {
        await drivers.engine(ref.provider).cancelRun(ref, { terminate, ...(reason === undefined ? {} : { reason }) });
      }
      const { status } = await executions.get(caller.tenantId, executionId);
      return { status: repeated ? 200 : 202, body: { executionId, status } };
    },
  });
}

function signalRoute({ runs, executions, drivers, signalThrottle }: EngineRunRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: '/api/v1/engine/runs/:runId/signals',
    access: 'executions:signal',
    summary: 'Send a signal to a run',
    params,
    body: signalRequest,
    responses: { 200: signalAnswer, 202: signalAnswer },
    async handle({ params: { runId: id }, body: { signalId, type, payload }, caller, by }) {
      requireRole(caller, SIGNAL_ROLES[type], type);
      await signalThrottle?.spend(caller.tenantId);
      const view = await runs.find(caller.tenantId, id);
      const { executionId } = view;
      const signal = { signalId: signalId.toLowerCase(), type, payload: payload as JsonObject };
      const refused = await executions.signalRefusal(caller.tenantId, executionId, signal);
      if (refused !== null) throw new PawlError('WFENG002', `${type} cannot be applied: ${refused}`);
      const { repeated } = await executions.signal(caller.tenantId, executionId, signal, by);
      const ref = drivers.refOf(view);
      // The store has it: telling the engine makes it quick.
      if (ref !== undefined)
        await drivers
          .engine(ref.provider)
          .signal(ref, signal)
          .catch(() => undefined);
      return { status: repeated ? 200 : 202, body: { executionId, signalId: signal.signalId, repeated } };
    },
  });
}

function debugRoute(deps: EngineRunRoutesDeps): RouteSpec {
  const { runs, queries } = deps;
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
      const run = await presentRun(deps, id, view);
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

function inspectRoute(deps: EngineRunRoutesDeps): RouteSpec {
  const { runs, queries, drivers } = deps;
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
      const actions = presentAttempts(await queries.attempts(view, { offset: 0, limit: ALL_ATTEMPTS }));
      const resources = (await queries.links(view, { offset: 0, limit: ALL_ATTEMPTS })).map(presentLink);
      const execution = { ...presentExecution(view), actions, resources };
      const run = { ...(await presentRun(deps, id, view)), ...(await engineStatus(drivers, view)) };
      const artifacts = artifactsOf(inspection);
      return { status: 200, body: { run, execution, graph: presentGraph(inspection), artifacts } };
    },
  });
}

/** What runs it, and its name there. */
function engineRun(drivers: Drivers, view: ExecutionView) {
  const driver = view.driver ?? ('native' as const);
  const ref = drivers.refOf(view);
  return ref === undefined ? { driver } : { driver, engineRunRef: ref };
}

/** What the engine itself says of the run; a run that it cannot be asked about has none. */
async function engineStatus(drivers: Drivers, view: ExecutionView) {
  const ref = drivers.refOf(view);
  if (ref === undefined) return {};
  try {
    return { engineStatus: await drivers.engine(ref.provider).getRunStatus(ref) };
  } catch (error) {
    return { engineStatus: { state: 'unknown' as const, providerStatus: 'unknown', reason: (error as Error).message } };
  }
}

async function presentRun({ workflows, drivers }: EngineRunRoutesDeps, id: string, view: ExecutionView) {
  const { workflowId, version, status, tenantId, projectId, environmentId } = view;
  const { error } = presentExecution(view);
  return {
    runId: id,
    ...engineRun(drivers, view),
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
  const { state } = await queries.graph(view.tenantId, view.executionId);
  if (state.plan.nodes.some(({ id }) => id === stepId)) return;
  throw new PawlError('NOT_FOUND', `the run has no step "${stepId}"`);
}

/** What steps point to in the outputs they have now. */
function artifactsOf({ outputs }: Inspection): (z.infer<typeof artifactRefSchema> & { stepId: string })[] {
  return [...outputs].flatMap(([stepId, output]) => {
    const refs = isJsonObject(output) && Array.isArray(output.artifactRefs) ? output.artifactRefs : [];
    return refs.flatMap((ref) => {
      const { success, data } = artifactRefSchema.safeParse(ref);
      return success ? [{ ...data, stepId }] : [];
    });
  });
}
