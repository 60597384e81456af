// Runs of execution plans: handing one over, and the debug endpoints, which read and change nothing.

import { z } from 'zod';
import { errorCategory } from '../../core/error/category.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { Drivers } from '../../driver/drivers.ts';
import { ShownLines } from '../../execution/execution-event.ts';
import type { ExecutionQueries } from '../../execution/execution-queries.ts';
import type { Inspection } from '../../execution/inspection.ts';
import {
  artifactRefSchema,
  cancelRunRequest,
  RUN_STATES,
  reconcileAnswer,
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
import type { Actor } from '../../store/audit-port.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import { PlanUnreachableError } from '../../workflow/plan-source.ts';
import { principalFor } from '../auth/principal.ts';
import { requireRole } from '../auth/role.ts';
import type { Caller } from '../caller.ts';
import { traceOf } from '../correlation.ts';
import type { RouteParts } from '../parts.ts';
import { presentAttempts, presentEvent, presentExecution, presentGraph, presentLink } from '../present/execution.ts';
import { plannedStart } from '../rate-limit.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

type Parts = Pick<
  RouteParts,
  'drivers' | 'executions' | 'plans' | 'queries' | 'reconciliation' | 'runs' | 'signalThrottle' | 'store' | 'throttle'
>;

const params = z.object({ runId });
const common = { tag: 'Plans', notFound: 'EXECUTION_NOT_FOUND' } as const;
const MAX_LINES = 200;
const ALL_EVENTS = 100_000;
const ALL_ATTEMPTS = 10_000;

export function engineRunRoutes(deps: Parts): RouteSpec[] {
  const { drivers, executions, plans, queries, reconciliation, runs, signalThrottle, throttle } = deps;
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/v1/engine/runs',
      access: 'workflows:execute',
      summary:
        'Run an execution plan, given or by reference; a version that is not published yet needs `workflows:manage`',
      body: startRunRequest,
      responses: { 200: startRunAnswer, 202: startRunAnswer },
      async handle({ body: { plan: given, planRef, context, inputs }, caller, by, headers, givenCorrelationId }) {
        const request = { ...context, principal: principalFor(caller, undefined) as unknown as Json, by };
        const fetched = planRef === undefined ? given : plans.get(caller.tenantId, planRef, new Date());
        const plan = await Promise.resolve(fetched).catch((error: unknown) => failedRun(deps, caller, request, error));
        const tenantId = caller.loose ? tenantOf(plan, caller.tenantId) : caller.tenantId;
        const started = await runs.start({
          ...request,
          admit: async (start) => throttle?.spend(start),
          tenantId,
          plan: plan as JsonObject,
          inputs: inputs as Json | undefined,
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
          ...(started.isNew ? plannedStart(started.hold) : {}),
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        };
        return { status: started.isNew ? 202 : 200, headers: { location: statusUrl }, body };
      },
    }),
    defineRoute({
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
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/v1/engine/runs/:runId/reconcile',
      access: 'workflows:manage',
      summary: 'Send the events of a run to the event buses again, as the journal tells them',
      params,
      responses: { 202: reconcileAnswer },
      async handle({ params: { runId: id }, caller, by }) {
        const { executionId } = await runs.find(caller.tenantId, id);
        return { status: 202, body: { executionId, ...(await reconciliation.run(caller.tenantId, executionId, by)) } };
      },
    }),
    defineRoute({
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
        const view = await runs.find(caller.tenantId, id);
        const { executionId, projectId } = view;
        await signalThrottle?.spend(caller.tenantId, async () => projectId);
        const signal = { signalId: signalId.toLowerCase(), type, payload: payload as JsonObject };
        const refused = await executions.signalRefusal(caller.tenantId, executionId, signal);
        if (refused !== null) throw new PawlError('WFENG002', `${type} cannot be applied: ${refused}`);
        const { repeated } = await executions.signal(caller.tenantId, executionId, signal, by);
        const ref = drivers.refOf(view);
        // The store has it; telling the engine only makes it quick.
        if (ref !== undefined)
          await drivers
            .engine(ref.provider)
            .signal(ref, signal)
            .catch(() => undefined);
        return { status: repeated ? 200 : 202, body: { executionId, signalId: signal.signalId, repeated } };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/engine/runs/:runId/debug',
      alsoAt: '/engine/runs/:runId/debug',
      access: 'workflows:read',
      summary: 'The engine reference of a run and its execution',
      params,
      responses: { 200: runDebugSchema },
      async handle({ params: { runId: id }, caller }) {
        const view = await runs.find(caller.tenantId, id);
        const { events } = await queries.events(view, { afterSeq: -1, limit: ALL_EVENTS });
        const run = await presentRun(deps, id, view);
        return { status: 200, body: { ...run, lastSeq: events.at(-1)?.seq ?? -1 } };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/engine/runs/:runId/steps/:stepId/logs',
      alsoAt: '/engine/runs/:runId/steps/:stepId/logs',
      access: 'workflows:read',
      summary: 'Pointers to the log of a step, and its latest lines',
      params: z.object({ runId, stepId: z.string().min(1).max(200) }),
      responses: { 200: stepLogsSchema },
      async handle({ params: { runId: id, stepId }, caller }) {
        const view = await runs.find(caller.tenantId, id);
        const { events } = await queries.events(view, { afterSeq: -1, limit: ALL_EVENTS });
        const told = [...events, ...(await queries.liveLines(view, events.at(-1)?.seq ?? -1))];
        const lines = new ShownLines().news(told).filter(({ type, nodeId }) => type === 'Log' && nodeId === stepId);
        if (lines.length === 0) await requireStep(queries, view, stepId);
        const pointers = [`/api/v1/executions/${view.executionId}/events`];
        return { status: 200, body: { runId: id, stepId, pointers, lines: lines.slice(-MAX_LINES).map(presentEvent) } };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/v1/engine/runs/:runId/inspect',
      alsoAt: '/engine/runs/:runId/inspect',
      access: 'workflows:read',
      summary: "A snapshot of a run: state, artifacts and the provider's status",
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
    }),
  ];
}

/** A run requested by id exists as failed; the answer is the refusal and names it. */
async function failedRun(
  { runs, throttle }: Parts,
  { tenantId }: Caller,
  request: { readonly runId?: string | undefined; readonly principal: Json; readonly by: Actor },
  error: unknown,
): Promise<never> {
  const { runId: id } = request;
  if (!(error instanceof PlanUnreachableError) || id === undefined) throw error;
  await throttle?.spend({ tenantId, workflowId: 'pawl-plan-fetch', requestId: id });
  const executionId = await runs.fail({ ...request, runId: id, tenantId }, error.message);
  throw new PawlError('PLAN_UNAVAILABLE', error.message, { runId: id, executionId });
}

/** In loose mode the scope of the plan names the tenant. */
function tenantOf(plan: Record<string, unknown> | undefined, otherwise: string): string {
  const named = (plan?.scope as { tenantId?: unknown } | undefined)?.tenantId;
  return typeof named === 'string' && isTenantId(named) ? named : otherwise;
}

/** What runs it, and its name there. */
function engineRun(drivers: Drivers, view: ExecutionView) {
  const driver = view.driver ?? ('native' as const);
  const ref = drivers.refOf(view);
  return ref === undefined ? { driver } : { driver, engineRunRef: ref };
}

/** The engine's own status of the run; absent if the run has no reference in the engine. */
async function engineStatus(drivers: Drivers, view: ExecutionView) {
  const ref = drivers.refOf(view);
  if (ref === undefined) return {};
  try {
    return { engineStatus: await drivers.engine(ref.provider).getRunStatus(ref) };
  } catch (error) {
    return { engineStatus: { state: 'unknown' as const, providerStatus: 'unknown', reason: (error as Error).message } };
  }
}

async function presentRun({ store, drivers }: Parts, id: string, view: ExecutionView) {
  const { workflowId, version, status, tenantId, projectId, environmentId } = view;
  const { error } = presentExecution(view);
  return {
    runId: id,
    ...engineRun(drivers, view),
    planId: workflowId,
    planVersion: await planVersionOf(store, view),
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

/** The planner's version. Workflows that are not execution plans show their own version number. */
async function planVersionOf(store: Parts['store'], { tenantId, workflowId, version }: ExecutionView): Promise<string> {
  const row = await store.definitionGet({ tenantId, workflowId, version });
  const { metadata } = JSON.parse(row?.definition ?? '{}') as JsonObject;
  const named = isJsonObject(metadata) ? metadata.planVersion : undefined;
  return typeof named === 'string' ? named : String(shownVersion(version));
}

async function requireStep(queries: ExecutionQueries, view: ExecutionView, stepId: string): Promise<void> {
  const { state } = await queries.graph(view.tenantId, view.executionId);
  if (state.plan.nodes.some(({ id }) => id === stepId)) return;
  throw new PawlError('NOT_FOUND', `the run has no step "${stepId}"`);
}

/** Artifacts that the steps' current outputs point to. */
function artifactsOf({ outputs }: Inspection): (z.infer<typeof artifactRefSchema> & { stepId: string })[] {
  return [...outputs].flatMap(([stepId, output]) => {
    const refs = isJsonObject(output) && Array.isArray(output.artifactRefs) ? output.artifactRefs : [];
    return refs.flatMap((ref) => {
      const { success, data } = artifactRefSchema.safeParse(ref);
      return success ? [{ ...data, stepId }] : [];
    });
  });
}
