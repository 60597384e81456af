// Puts the HTTP side together: every route, who may use it, and the socket it listens on.

import { readdirSync, readFileSync } from 'node:fs';
import { isUuid } from '../core/id/id.ts';
import type { Consumers } from '../delivery/consumers.ts';
import type { Deliveries } from '../delivery/deliveries.ts';
import type { Notices } from '../delivery/notices.ts';
import type { DisabledActions } from '../engine/attempt/disabled-actions.ts';
import type { DeadLetters } from '../engine/execution/dead-letters.ts';
import type { ExecutionQueries } from '../engine/execution/execution-queries.ts';
import type { Executions } from '../engine/execution/executions.ts';
import type { PlanRuns } from '../engine/execution/plan-runs.ts';
import type { Lifecycles } from '../engine/lifecycle/lifecycles.ts';
import type { Quotas } from '../engine/quota/quotas.ts';
import type { DocumentTemplates } from '../engine/template/document-templates.ts';
import type { WorkflowTemplates } from '../engine/template/workflow-templates.ts';
import type { Pipelines } from '../engine/workflow/workflow-pipeline.ts';
import type { WorkflowQueries } from '../engine/workflow/workflow-queries.ts';
import type { Workflows } from '../engine/workflow/workflows.ts';
import type { Store } from '../store/port.ts';
import type { Intake } from '../trigger/intake.ts';
import type { Triggers } from '../trigger/triggers.ts';
import { type AppObserver, createApp, type TenantOf } from './app.ts';
import { type AuthOptions, openAuth } from './auth/auth-options.ts';
import { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import { openApiOf } from './openapi.ts';
import { createRateLimiter, createWorkflowThrottle } from './rate-limit.ts';
import { ReferencedPlans } from './referenced-plans.ts';
import { adminRoutes } from './route/admin-routes.ts';
import { auditRoutes } from './route/audit-routes.ts';
import { callbackRoutes } from './route/callback-routes.ts';
import { catalogRoutes } from './route/catalog-routes.ts';
import { consumerRoutes } from './route/consumer-routes.ts';
import { deliveryRoutes } from './route/delivery-routes.ts';
import { documentRoutes } from './route/document-routes.ts';
import { engineRunRoutes } from './route/engine-run-routes.ts';
import { executionCommandRoutes } from './route/execution-command-routes.ts';
import { executionRoutes } from './route/execution-routes.ts';
import { firingRoutes } from './route/firing-routes.ts';
import { healthRoutes } from './route/health-routes.ts';
import { instanceRoutes } from './route/instance-routes.ts';
import { lifecycleRoutes } from './route/lifecycle-routes.ts';
import { noticeRoutes } from './route/notice-routes.ts';
import { pipelineRoutes } from './route/pipeline-routes.ts';
import type { FirstSecretOf } from './route/pipeline-view.ts';
import { quotaRoutes } from './route/quota-routes.ts';
import { templateRoutes } from './route/template-routes.ts';
import { templateWorkflowRoutes } from './route/template-workflow-routes.ts';
import { triggerRoutes } from './route/trigger-routes.ts';
import { workflowManageRoutes } from './route/workflow-manage-routes.ts';
import { workflowReadRoutes } from './route/workflow-read-routes.ts';
import type { RouteSpec } from './route.ts';

export interface ServerParts {
  readonly store: Store;
  readonly executions: Executions;
  readonly queries: ExecutionQueries;
  readonly workflows: Workflows;
  readonly workflowQueries: WorkflowQueries;
  readonly pipelines: Pipelines;
  readonly documents: DocumentTemplates;
  readonly workflowTemplates: WorkflowTemplates;
  readonly triggers: Triggers;
  readonly intake: Intake;
  readonly runs: PlanRuns;
  readonly deadLetters: DeadLetters;
  readonly quotas: Quotas;
  readonly lifecycles: Lifecycles;
  readonly consumers: Consumers;
  readonly deliveries: Deliveries;
  readonly notices: Notices;
  readonly metrics: Metrics;
  readonly actionTypes: ReadonlySet<string>;
  readonly disabled: DisabledActions;
  readonly publicUrl: () => string;
}

export interface ServerOptions {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly bodyLimitBytes: number;
    readonly shutdownMs: number;
    readonly planFolder?: string | undefined;
    readonly maxPlanBytes: number;
    readonly planCacheMs: number;
    readonly checkAnswers: boolean;
  };
  readonly auth: AuthOptions & { readonly requirePrincipalForExecute: boolean };
  readonly rateLimit: {
    readonly perTokenPerMinute: number;
    readonly perTokenBurst: number;
    readonly perWorkflowPerMinute: number;
  };
  readonly trigger: {
    readonly enableWebhooks: boolean;
    readonly enableEvents: boolean;
    readonly webhookBasePath: string;
  };
  readonly observer: AppObserver;
}

export interface RunningServer {
  /** E.g. `http://127.0.0.1:7295`. */
  readonly url: string;
  /** No new requests; those in progress are finished, up to a limit. */
  close(): Promise<void>;
}

/**
 * Connections that wait to be accepted, which happens once in a turn of the event loop: with Node's 511, those that come in a burst while the engine is
 * busy were turned away, and try again a second later. The system may allow less.
 */
const BACKLOG = 4096;

export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

export async function startServer(parts: ServerParts, options: ServerOptions): Promise<RunningServer> {
  const { host, port, bodyLimitBytes, shutdownMs } = options.server;
  const auth = await openAuth(options.auth, parts.store);
  const isLoose = auth.mode === 'loose';
  const { perTokenPerMinute: perMinute, perTokenBurst: burst } = options.rateLimit;
  const app = createApp({
    routes: allRoutes(parts, options),
    auth,
    bodyLimitBytes,
    rateLimiter: isLoose ? null : createRateLimiter(parts.store, { perMinute, burst }),
    ...(isLoose && isLoopback(host) ? { hosts: LOOPBACK_NAMES } : {}),
    observer: options.observer,
    ...(isLoose ? { tenantOf: looseTenantOf(parts.store) } : {}),
    checkAnswers: options.server.checkAnswers,
  });
  await app.listen({ host, port, backlog: BACKLOG }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    if (error.code !== 'EADDRINUSE') throw error;
    throw new PortTakenError(`port ${port} of ${host} is taken by another program: stop it, or choose one with --port`);
  });
  const sweep = setInterval(
    () => void parts.store.ratePurge({ olderThanMs: BUCKET_KEPT_MS }).catch(() => {}),
    BUCKET_KEPT_MS,
  );
  sweep.unref();
  const address = app.server.address() as { port: number };
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}`,
    async close() {
      clearInterval(sweep);
      const impatient = setTimeout(() => app.server.closeAllConnections(), shutdownMs);
      await app.close();
      clearTimeout(impatient);
    },
  };
}

/** Everything that can be asked. The route-walk test walks this very list. */
export function allRoutes(
  parts: ServerParts,
  options: Pick<ServerOptions, 'server' | 'auth' | 'rateLimit' | 'trigger'>,
): RouteSpec[] {
  const {
    store,
    executions,
    queries,
    workflows,
    workflowQueries,
    pipelines,
    triggers,
    intake,
    runs,
    deadLetters,
    metrics,
    publicUrl,
  } = parts;
  const { planFolder: folder, maxPlanBytes: maxBytes, planCacheMs: keptMs } = options.server;
  const { perWorkflowPerMinute } = options.rateLimit;
  const isThrottled = perWorkflowPerMinute > 0 && !options.auth.allowLooseAuth;
  const throttle = isThrottled ? createWorkflowThrottle(store, perWorkflowPerMinute) : null;
  const requirePrincipal = options.auth.requirePrincipalForExecute;
  const firstSecretOf: FirstSecretOf = (tenantId, pipeline) => triggers.firstSecretOf(tenantId, pipeline);
  const webhookBase = () => `${publicUrl()}${options.trigger.webhookBasePath}`;
  let openApi: unknown;
  const routes: RouteSpec[] = [
    ...workflowReadRoutes({ workflowQueries, webhookBase }),
    ...workflowManageRoutes({ workflows, workflowQueries, pipelines, webhookBase, firstSecretOf }),
    ...pipelineRoutes({ workflowQueries, pipelines, executions, webhookBase, firstSecretOf, throttle }),
    ...executionCommandRoutes({ executions, throttle, requirePrincipal }),
    ...triggerRoutes({ triggers, workflowQueries, webhookBase }),
    ...firingRoutes({ intake, throttle, ...options.trigger }),
    ...executionRoutes({ queries, workflowQueries }),
    ...callbackRoutes({ executions }),
    ...engineRunRoutes({
      runs,
      queries,
      plans: new ReferencedPlans({ store, folder, maxBytes, keptMs }),
      workflows: store,
    }),
    ...catalogRoutes({ catalog: store, changed: () => parts.disabled.forget() }),
    ...templateWorkflowRoutes(parts),
    ...templateRoutes(parts),
    ...adminRoutes({ deadLetters, runners: store }),
    ...quotaRoutes(parts),
    ...lifecycleRoutes(parts),
    ...instanceRoutes(parts),
    ...consumerRoutes(parts),
    ...deliveryRoutes(parts),
    ...noticeRoutes(parts),
    ...auditRoutes({ audit: store }),
    ...healthRoutes({ health: new Health(parts), metrics }),
    ...documentRoutes({
      openApi: () => {
        openApi ??= openApiOf(routes, about());
        return openApi;
      },
      schemas: readSchemas(),
    }),
  ];
  return routes;
}

/** A run is known by the runId that its caller chose, which others may have chosen too, or by its execution's id. */
const looseTenantOf =
  (store: Store): TenantOf =>
  async ({ executionId, runId }, own) => {
    const ownRun = runId === undefined ? null : await store.executionByRequest({ tenantId: own, requestId: runId });
    if (ownRun !== null) return own;
    const id = executionId ?? runId ?? '';
    const byId = isUuid(id) ? await store.executionTenant({ executionId: id }) : null;
    return byId ?? (runId === undefined ? null : store.requestTenant({ requestId: runId }));
  };

/** A bucket that nobody used for so long is full. */
const BUCKET_KEPT_MS = 3_600_000;

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

const isLoopback = (host: string): boolean => LOOPBACK_NAMES.has(host) || host.startsWith('127.');

const ROOT = new URL('../../', import.meta.url);

function about(): { version: string; description: string } {
  const { version, description } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Record<
    string,
    string
  >;
  return { version: version ?? '', description: description ?? '' };
}

function readSchemas(): Map<string, string> {
  const folder = new URL('schemas/', ROOT);
  const files = readdirSync(folder).filter((file) => file.endsWith('.schema.json'));
  return new Map(files.sort().map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]));
}
