// Assembles the HTTP server: routes, authentication and the listening socket.

import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isUuid } from '../core/id/id.ts';
import type { Store } from '../store/port.ts';
import { inTenant } from '../store/tenant-scope.ts';
import { Health } from '../telemetry/health.ts';
import { ReferencedPlans } from '../workflow/referenced-plans.ts';
import { createApp, type TenantOf, type Witness } from './app.ts';
import { AuditWatch } from './audit-watch.ts';
import { openAuth } from './auth/auth-options.ts';
import { DatabaseWatch } from './database-watch.ts';
import { type About, openApiOf } from './openapi.ts';
import { openDashboard } from './page/dashboard.ts';
import type { RouteOptions, RouteParts, ServerOptions, ServerParts } from './parts.ts';
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
import { mcpRoutes } from './route/mcp-routes.ts';
import { noticeRoutes } from './route/notice-routes.ts';
import { pipelineRoutes } from './route/pipeline-routes.ts';
import { pluginRoutes } from './route/plugin-routes.ts';
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

/** Every route of the API. The route-walk test walks this same list. */
export function allRoutes(
  parts: ServerParts,
  options: RouteOptions,
  ownUrl: () => string = parts.publicUrl,
): RouteSpec[] {
  const ready = { ...routeParts(parts, options), ownUrl, version: about().version };
  let openApi: unknown;
  const routes: RouteSpec[] = [
    ...ROUTES.flatMap((routesOf) => routesOf(ready)),
    ...documentRoutes({
      openApi: () => {
        openApi ??= openApiOf(routes, { ...about(), isLoose: options.auth.allowLooseAuth });
        return openApi;
      },
      schemas: readSchemas(),
      dashboard: openDashboard(),
    }),
  ];
  return routes.flatMap((route) => (route.alsoAt === undefined ? [route] : [route, { ...route, path: route.alsoAt }]));
}

/** The OpenAPI document lists them in this order. */
const ROUTES = [
  workflowReadRoutes,
  workflowManageRoutes,
  pipelineRoutes,
  executionCommandRoutes,
  triggerRoutes,
  firingRoutes,
  executionRoutes,
  executionListRoutes,
  journalRoutes,
  waitRoutes,
  liveRoutes,
  statisticsRoutes,
  bulkRoutes,
  findRoutes,
  keyRoutes,
  sessionRoutes,
  callbackRoutes,
  mcpRoutes,
  engineRunRoutes,
  catalogRoutes,
  pluginRoutes,
  templateWorkflowRoutes,
  templateRoutes,
  artifactRoutes,
  adminRoutes,
  quotaRoutes,
  lifecycleRoutes,
  instanceRoutes,
  consumerRoutes,
  deliveryRoutes,
  noticeRoutes,
  connectionRoutes,
  secretRoutes,
  taskQueueRoutes,
  auditRoutes,
  healthRoutes,
] satisfies ((parts: RouteParts) => RouteSpec[])[];

function routeParts(parts: ServerParts, options: RouteOptions): Omit<RouteParts, 'ownUrl' | 'version'> {
  const { store, publicUrl, readRemote } = parts;
  const { planFolder: folder, maxPlanBytes: maxBytes, planCacheMs: keptMs } = options.server;
  const { perWorkflowPerMinute, perTenantStartsPerMinute } = options.rateLimit;
  const isThrottled = perWorkflowPerMinute + perTenantStartsPerMinute > 0 && !options.auth.allowLooseAuth;
  return {
    ...parts,
    options,
    health: new Health(parts),
    plans: new ReferencedPlans({ store, folder, maxBytes, keptMs, readRemote }),
    webhookBase: () => `${publicUrl()}${options.trigger.webhookBasePath}`,
    throttle: isThrottled ? createWorkflowThrottle(store, options.rateLimit) : null,
    signalThrottle: options.auth.allowLooseAuth ? null : createSignalThrottle(store, options.rateLimit),
  };
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

/** A bucket that was unused for this long is full again, so its row can go. */
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
