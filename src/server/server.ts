// Puts the HTTP side together: every route, who may use it, and the socket it listens on.

import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Artifacts } from '../artifact/artifacts.ts';
import type { Authorization } from '../connection/authorization.ts';
import type { Connections } from '../connection/connections.ts';
import { isUuid } from '../core/id/id.ts';
import type { Consumers } from '../delivery/consumers.ts';
import type { Deliveries } from '../delivery/deliveries.ts';
import type { Notices } from '../delivery/notices.ts';
import type { Drivers } from '../driver/drivers.ts';
import type { DisabledActions } from '../engine/attempt/disabled-actions.ts';
import type { BulkActions } from '../execution/bulk-actions.ts';
import type { DeadLetters } from '../execution/dead-letters.ts';
import type { ExecutionJournals } from '../execution/execution-journals.ts';
import type { ExecutionLists } from '../execution/execution-lists.ts';
import type { ExecutionQueries } from '../execution/execution-queries.ts';
import type { Executions } from '../execution/executions.ts';
import type { LiveBoard } from '../execution/live-board.ts';
import type { PlanRuns } from '../execution/plan-runs.ts';
import type { Lifecycles } from '../lifecycle/instance/lifecycles.ts';
import type { Quotas } from '../quota/quotas.ts';
import type { TableSecretsPort } from '../secret/secret.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { Store } from '../store/port.ts';
import { inTenant } from '../store/tenant-scope.ts';
import type { TaskQueues } from '../task-queue/task-queues.ts';
import { Health, type HealthDeps } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DocumentTemplates } from '../template/document-templates.ts';
import type { WorkflowTemplates } from '../template/workflow-templates.ts';
import type { Backfill } from '../trigger/backfill.ts';
import type { Intake } from '../trigger/intake.ts';
import type { Triggers } from '../trigger/triggers.ts';
import type { ReadRemotePlan } from '../workflow/plan-source.ts';
import { ReferencedPlans } from '../workflow/referenced-plans.ts';
import type { Pipelines } from '../workflow/workflow-pipeline.ts';
import type { WorkflowQueries } from '../workflow/workflow-queries.ts';
import type { Workflows } from '../workflow/workflows.ts';
import { type AppObserver, createApp, type TenantOf, type Witness } from './app.ts';
import { AuditWatch } from './audit-watch.ts';
import { type AuthOptions, openAuth } from './auth/auth-options.ts';
import { DatabaseWatch } from './database-watch.ts';
import { type About, openApiOf } from './openapi.ts';
import { openDashboard } from './page/dashboard.ts';
import { createRateLimiter, createSignalThrottle, createWorkflowThrottle } from './rate-limit.ts';
import { adminRoutes } from './route/admin-routes.ts';
import { artifactRoutes } from './route/artifact-routes.ts';
import { auditRoutes } from './route/audit-routes.ts';
import { bulkRoutes } from './route/bulk-routes.ts';
import { callbackRoutes } from './route/callback-routes.ts';
import { catalogRoutes } from './route/catalog-routes.ts';
import { connectionRoutes } from './route/connection-routes.ts';
import { consumerRoutes } from './route/consumer-routes.ts';
import { deliveryRoutes } from './route/delivery-routes.ts';
import { documentRoutes } from './route/document-routes.ts';
import { engineRunRoutes } from './route/engine-run-routes.ts';
import { executionCommandRoutes } from './route/execution-command-routes.ts';
import { executionListRoutes } from './route/execution-list-routes.ts';
import { executionRoutes } from './route/execution-routes.ts';
import { findRoutes } from './route/find-routes.ts';
import { firingRoutes } from './route/firing-routes.ts';
import { healthRoutes } from './route/health-routes.ts';
import { instanceRoutes } from './route/instance-routes.ts';
import { journalRoutes } from './route/journal-routes.ts';
import { keyRoutes } from './route/key-routes.ts';
import { lifecycleRoutes } from './route/lifecycle-routes.ts';
import { liveRoutes } from './route/live-routes.ts';
import { type AnswerMcp, mcpRoutes } from './route/mcp-routes.ts';
import { noticeRoutes } from './route/notice-routes.ts';
import { pipelineRoutes } from './route/pipeline-routes.ts';
import type { FirstSecretOf } from './route/pipeline-view.ts';
import { quotaRoutes } from './route/quota-routes.ts';
import { secretRoutes } from './route/secret-routes.ts';
import { sessionRoutes } from './route/session-routes.ts';
import { statisticsRoutes } from './route/statistics-routes.ts';
import { taskQueueRoutes } from './route/task-queue-routes.ts';
import { templateRoutes } from './route/template-routes.ts';
import { templateWorkflowRoutes } from './route/template-workflow-routes.ts';
import { triggerRoutes } from './route/trigger-routes.ts';
import { waitRoutes } from './route/wait-routes.ts';
import { workflowManageRoutes } from './route/workflow-manage-routes.ts';
import { workflowReadRoutes } from './route/workflow-read-routes.ts';
import type { RouteSpec } from './route.ts';
import { ownHosts } from './site.ts';

export interface ServerParts {
  readonly store: Store;
  readonly executions: Executions;
  readonly queries: ExecutionQueries;
  readonly journals: ExecutionJournals;
  readonly lists: ExecutionLists;
  readonly board: LiveBoard;
  readonly statistics: Statistics;
  readonly bulk: BulkActions;
  readonly workflows: Workflows;
  readonly workflowQueries: WorkflowQueries;
  readonly pipelines: Pipelines;
  readonly documents: DocumentTemplates;
  readonly workflowTemplates: WorkflowTemplates;
  readonly triggers: Triggers;
  readonly intake: Intake;
  readonly backfill: Backfill;
  /** Whether the environment has a token for a connector of the tenant. */
  readonly hasToken: (tenantId: string, connectorId: string) => boolean;
  readonly runs: PlanRuns;
  readonly artifacts: Artifacts;
  /** Plans behind `https:` and `s3:` references. */
  readonly readRemote?: ReadRemotePlan;
  readonly taskQueues: TaskQueues;
  readonly deadLetters: DeadLetters;
  readonly quotas: Quotas;
  readonly lifecycles: Lifecycles;
  readonly consumers: Consumers;
  readonly deliveries: Deliveries;
  readonly notices: Notices;
  readonly metrics: Metrics;
  readonly connections: Connections;
  readonly authorization: Authorization;
  readonly tableSecrets: TableSecretsPort;
  readonly secrets: Secrets;
  readonly actionTypes: ReadonlySet<string>;
  readonly places?: HealthDeps['places'];
  readonly disabled: DisabledActions;
  readonly publicUrl: () => string;
  readonly drivers: Drivers;
  /** Absent: there is no `/mcp`. */
  readonly mcp?: AnswerMcp;
  /** The process is about to stop: it still serves, and is not ready. */
  readonly isStopping?: () => boolean;
}

export interface ServerOptions {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly publicUrl?: string | undefined;
    readonly bodyLimitBytes: number;
    readonly shutdownMs: number;
    readonly databaseTimeoutMs: number;
    readonly planFolder?: string | undefined;
    readonly maxPlanBytes: number;
    readonly planCacheMs: number;
    readonly checkAnswers: boolean;
  };
  readonly auth: AuthOptions & { readonly requirePrincipalForExecute: boolean };
  readonly rateLimit: {
    readonly perTokenPerMinute: number;
    readonly perTokenBurst: number;
    readonly readsPerTokenPerMinute: number;
    readonly readsPerTokenBurst: number;
    readonly perWorkflowPerMinute: number;
    readonly perTenantStartsPerMinute: number;
    readonly perTenantSignalsPerMinute: number;
  };
  readonly trigger: {
    readonly enableWebhooks: boolean;
    readonly enableEvents: boolean;
    readonly webhookBasePath: string;
  };
  readonly observer: AppObserver;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
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
  const { host, port, bodyLimitBytes, shutdownMs, databaseTimeoutMs: silentMs } = options.server;
  const { store, isStopping } = parts;
  const watch = new DatabaseWatch({ ask: () => store.now(), silentMs, changed: changeTeller(options) });
  const auth = await openAuth(options.auth, parts.store);
  const isLoose = auth.mode === 'loose';
  const { perTokenPerMinute: perMinute, perTokenBurst: burst } = options.rateLimit;
  const reads = { perMinute: options.rateLimit.readsPerTokenPerMinute, burst: options.rateLimit.readsPerTokenBurst };
  const app: FastifyInstance = createApp({
    routes: allRoutes(parts, options, () => ownUrl(app)),
    auth,
    bodyLimitBytes,
    rateLimiter: isLoose ? null : createRateLimiter(parts.store, { perMinute, burst }),
    readLimiter: isLoose ? null : createRateLimiter(parts.store, reads, 'read'),
    ...(isLoose ? { isOwnHost: ownHosts(host, options.server.publicUrl) } : {}),
    observer: options.observer,
    ...(isLoose ? { tenantOf: looseTenantOf(parts.store) } : {}),
    workflowOf: async (tenantId, executionId) =>
      (await store.executionGet({ tenantId, executionId }))?.workflowId ?? null,
    checkAnswers: options.server.checkAnswers,
    ...(isLoose ? {} : { witness: witnessIn(parts.store, options) }),
    guard: (work) => watch.guard(work),
    ...(isStopping === undefined ? {} : { isStopping }),
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
      watch.close();
      const impatient = setTimeout(() => app.server.closeAllConnections(), shutdownMs);
      await app.close();
      clearTimeout(impatient);
    },
  };
}

/** How this process reaches itself: a socket that listens everywhere listens on the loopback address too. */
function ownUrl(app: FastifyInstance): string {
  const { address, port } = app.server.address() as AddressInfo;
  const isEverywhere = address === '0.0.0.0' || address === '::';
  return `http://${isEverywhere ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address}:${port}`;
}

const changeTeller =
  ({ server: { databaseTimeoutMs }, warn }: ServerOptions) =>
  (isAway: boolean, refused: number): void => {
    if (isAway) warn('the database does not answer: requests are refused with 503', { databaseTimeoutMs });
    else warn('the database answers again', { refused });
  };

function witnessIn(store: Store, { warn }: ServerOptions): Witness {
  const watch = new AuditWatch({ store, now: () => performance.now(), warn });
  return (what, { tenantId, subject }, correlationId) =>
    void inTenant(tenantId, () => watch.witness({ ...what, tenantId, by: { name: subject, correlationId } }));
}

/** Everything that can be asked. The route-walk test walks this very list. */
export function allRoutes(
  parts: ServerParts,
  options: Pick<ServerOptions, 'server' | 'auth' | 'rateLimit' | 'trigger'>,
  ownUrl: () => string = parts.publicUrl,
): RouteSpec[] {
  const {
    store,
    executions,
    queries,
    journals,
    lists,
    workflows,
    workflowQueries,
    pipelines,
    triggers,
    runs,
    deadLetters,
    metrics,
    publicUrl,
  } = parts;
  const { planFolder: folder, maxPlanBytes: maxBytes, planCacheMs: keptMs } = options.server;
  const { perWorkflowPerMinute, perTenantStartsPerMinute } = options.rateLimit;
  const isThrottled = perWorkflowPerMinute + perTenantStartsPerMinute > 0 && !options.auth.allowLooseAuth;
  const throttle = isThrottled ? createWorkflowThrottle(store, options.rateLimit) : null;
  const signalThrottle = options.auth.allowLooseAuth ? null : createSignalThrottle(store, options.rateLimit);
  const firstSecretOf: FirstSecretOf = (tenantId, pipeline) => triggers.firstSecretOf(tenantId, pipeline);
  const webhookBase = () => `${publicUrl()}${options.trigger.webhookBasePath}`;
  let openApi: unknown;
  const routes: RouteSpec[] = [
    ...workflowReadRoutes({ workflowQueries, webhookBase, statistics: parts.statistics }),
    ...workflowManageRoutes({ workflows, workflowQueries, pipelines, webhookBase, firstSecretOf }),
    ...pipelineRoutes({ workflowQueries, pipelines, executions, webhookBase, firstSecretOf, throttle }),
    ...executionCommandRoutes({
      executions,
      throttle,
      signalThrottle,
      requirePrincipal: options.auth.requirePrincipalForExecute,
    }),
    ...triggerRoutes({ triggers, workflowQueries, webhookBase }),
    ...firingRoutes({ ...parts, throttle, ...options.trigger }),
    ...executionRoutes({ queries, lists, executions }),
    ...executionListRoutes({ lists, workflowQueries }),
    ...journalRoutes({ queries, journals }),
    ...waitRoutes({ lists, executions, workflowQueries }),
    ...liveRoutes(parts),
    ...statisticsRoutes(parts),
    ...bulkRoutes(parts),
    ...findRoutes(parts),
    ...keyRoutes(parts),
    ...sessionRoutes(about().version),
    ...callbackRoutes({ executions }),
    ...(parts.mcp === undefined ? [] : mcpRoutes({ answer: parts.mcp, ownUrl })),
    ...engineRunRoutes({
      runs,
      queries,
      plans: new ReferencedPlans({ store, folder, maxBytes, keptMs, readRemote: parts.readRemote }),
      throttle,
      signalThrottle,
      workflows: store,
      executions,
      drivers: parts.drivers,
    }),
    ...catalogRoutes({ catalog: store, hasToken: parts.hasToken, changed: () => parts.disabled.forget() }),
    ...templateWorkflowRoutes(parts),
    ...templateRoutes(parts),
    ...artifactRoutes(parts),
    ...adminRoutes({ deadLetters, runners: store }),
    ...routesOfParts(parts),
    ...auditRoutes({ audit: store }),
    ...healthRoutes({ health: new Health(parts), metrics }),
    ...documentRoutes({
      openApi: () => {
        openApi ??= openApiOf(routes, { ...about(), isLoose: options.auth.allowLooseAuth });
        return openApi;
      },
      schemas: readSchemas(),
      dashboard: openDashboard(),
    }),
  ];
  return routes;
}

/** Those that need nothing but the parts themselves. */
function routesOfParts(parts: ServerParts): RouteSpec[] {
  return [
    ...quotaRoutes(parts),
    ...lifecycleRoutes(parts),
    ...instanceRoutes(parts),
    ...consumerRoutes(parts),
    ...deliveryRoutes(parts),
    ...noticeRoutes(parts),
    ...connectionRoutes(parts),
    ...secretRoutes(parts),
    ...taskQueueRoutes(parts),
  ];
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

const ROOT = new URL('../../', import.meta.url);

function about(): About {
  const { version, description, license } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Record<
    string,
    string
  >;
  return { version: version ?? '', description: description ?? '', license: license ?? '' };
}

function readSchemas(): Map<string, string> {
  const folder = new URL('schemas/', ROOT);
  const files = readdirSync(folder).filter((file) => file.endsWith('.schema.json'));
  return new Map(files.sort().map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]));
}
