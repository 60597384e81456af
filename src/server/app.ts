// The HTTP application: every declared route behind the same gates, in this order: correlation id, room (503), authentication
// (401), scope (403), rate (429), body limits (413, 415), ids (404), query and body (400). Deny by default: a route without
// declared access does not exist (S2).

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PawlError } from '../core/error/pawl-error.ts';
import { maskCallbacks } from '../protocol/callback-mask.ts';
import { inTenant, STRANGERS } from '../store/tenant-scope.ts';
import type { AnsweredRequest } from '../telemetry/log.ts';
import { checkAnswer, send } from './answer.ts';
import type { Witnessed } from './audit-watch.ts';
import type { Auth } from './auth/authenticator.ts';
import { type Identify, identifier } from './auth/identify.ts';
import { type BodyWatch, bodyWatch } from './body-watch.ts';
import { maskedStream, maySeeCallbacks } from './callback-sight.ts';
import type { Caller } from './caller.ts';
import { unusedConnections } from './connections.ts';
import { CORRELATION_HEADER, type Correlation, correlationOf } from './correlation.ts';
import { methodNotAllowed, newsOfRefusals, notFound, refusalOf } from './error-envelope.ts';
import { wantsEventStream } from './event-stream.ts';
import { type HeldOpen, heldOpen } from './held-open.ts';
import { jsonTextOf, readJsonBody } from './json-body.ts';
import { refuseBeyond, type WorkflowOf } from './limit.ts';
import { createLoad, type Door, type Load, type LoadLimits, type Place, whenClosed } from './load.ts';
import { malformedRefuser } from './malformed.ts';
import { methodTable } from './method-table.ts';
import type { RateLimiter } from './rate-limit.ts';
import { readParams, readRequest } from './request.ts';
import { type Answer, type Aside, type RouteSpec, scopesOf } from './route.ts';
import { fromElsewhere } from './site.ts';

export interface AppOptions extends LoadLimits {
  readonly routes: readonly RouteSpec[];
  readonly auth: Auth;
  readonly bodyLimitBytes?: number;
  /** null: requests are not counted. */
  readonly rateLimiter?: RateLimiter | null;
  /** For reads; absent: they count with the others. */
  readonly readLimiter?: RateLimiter | null;
  /** Whether requests may use this host name; absent: any. Loose mode checks it, against DNS rebinding. */
  readonly isOwnHost?: (name: string) => boolean;
  readonly observer?: AppObserver;
  /** The tenant of an execution or run, for loose requests that do not name it. */
  readonly tenantOf?: TenantOf;
  /** For callers that are limited to some workflows. */
  readonly workflowOf?: WorkflowOf;
  /** Absent: nothing is refused because of the database. */
  readonly guard?: Guard;
  /** The process is about to stop and still serves. */
  readonly isStopping?: () => boolean;
  /** Records events that change nothing but belong in the audit log; absent: none are recorded. */
  readonly witness?: Witness;
  /** For tests: an answer that does not match its declared schema is an error. */
  readonly checkAnswers?: boolean;
}

/** `own`: the default tenant of a request. */
export type TenantOf = (
  id: { readonly executionId?: string; readonly runId?: string },
  own: string,
) => Promise<string | null>;

/** A known caller was refused, or read something sensitive. */
export type Witness = (
  what: Pick<Witnessed, 'action' | 'route' | 'reason'>,
  caller: Caller,
  correlationId: string,
) => void;

export interface AppObserver {
  answered(request: AnsweredRequest): void;
  failed(error: unknown, correlationId: string): void;
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const MAX_PARAM_LENGTH = 512;
const KEEP_ALIVE_MS = 65_000;
/** The time to send a request, not to answer it. Slow bodies are dropped sooner (body-watch.ts). */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 10_000;
const CONNECTION_CHECK_MS = 2_000;
const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

export function createApp(options: AppOptions): FastifyInstance {
  const visitOf = createVisits();
  const bodies: { watch?: BodyWatch } = {};
  const refuse = refuser(options, visitOf, bodies);
  const methodsAt = methodTable(options.routes);
  const app = fastify({
    logger: false,
    exposeHeadRoutes: true,
    bodyLimit: options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    // A request on a closing connection is served like any other.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // A missing route is reported below, with our own error.
    http: {
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTION_CHECK_MS,
    },
    clientErrorHandler: malformedRefuser(methodsAt, options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT),
    frameworkErrors: (error, request, reply) => refuse(error, request, reply as FastifyReply),
  });
  const stopping = new AbortController();
  const load = createLoad(options);
  const watch = bodyWatch(app.server);
  bodies.watch = watch;
  const guard: Guard = options.guard ?? ((work) => work());
  const desk = {
    options,
    visitOf,
    stopping: stopping.signal,
    load,
    guard,
    watch,
    open: heldOpen(app.server, options.auth),
    identify: identifier(options.auth),
  };
  const closeUnused = unusedConnections(app.server);
  app.addHook('preClose', async () => {
    stopping.abort();
    if (app.server.listening) closeUnused();
  });
  app.setErrorHandler(refuse);
  greetAndReport(app, desk);
  // As a hook, because a handler would run only after the body has arrived.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const methods = methodsAt(request.url);
    if (methods.length === 0) throw notFound(request.method, request.url);
    if (request.method !== 'OPTIONS') throw methodNotAllowed(request.method, methods);
    return reply.header('allow', methods.join(', ')).code(204).send();
  });
  for (const [kind, parser] of Object.entries({ json: parseJson, any: keepBytes, raw: keepBytes })) {
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      parser(scope);
      const routes = options.routes.filter(({ bodyKind = 'json' }) => bodyKind === kind);
      for (const route of routes) mount(scope, route, desk);
    });
  }
  return app;
}

/** The state of a request while it is handled. */
interface Visit {
  readonly correlation: Correlation;
  caller: Caller | null;
  /** null until there was room for it. */
  place: Place | null;
}
type VisitOf = (request: FastifyRequest) => Visit;

function createVisits(): VisitOf {
  const visits = new WeakMap<FastifyRequest, Visit>();
  return (request) => {
    const known = visits.get(request);
    if (known !== undefined) return known;
    const visit = { correlation: correlationOf(request.headers), caller: null, place: null };
    visits.set(request, visit);
    return visit;
  };
}

function refuser(
  { observer, bodyLimitBytes = DEFAULT_BODY_LIMIT, witness }: AppOptions,
  visitOf: VisitOf,
  bodies: { readonly watch?: BodyWatch },
) {
  const isNews = newsOfRefusals();
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { id } = visitOf(request).correlation;
    const refusal = refusalOf(error, { correlationId: id, at: new Date(), bodyLimitBytes });
    if (refusal.unexpected && isNews(refusal)) observer?.failed(error, id);
    const { caller } = visitOf(request);
    if (refusal.status === 403 && caller !== null) {
      const route = `${request.method} ${request.routeOptions.url ?? '(none)'}`;
      witness?.({ action: 'access.denied', route, reason: (error as Error).message.slice(0, 300) }, caller, id);
    }
    const isRead = (async () => request.raw.complete || (await bodies.watch!.refuse(request.raw)))();
    // With `connection: close` Node would close the connection with its answer, even while the sender is still sending.
    if (caller === null) void isRead.then((all) => all || request.raw.socket.destroy());
    if (caller === null || (await isRead)) reply.removeHeader('connection');
    else reply.header('connection', 'close');
    return reply.header(CORRELATION_HEADER, id).headers(refusal.headers).code(refusal.status).send(refusal.body);
  };
}

function greetAndReport(app: FastifyInstance, { options, visitOf, load, watch, stopping }: Desk): void {
  const { isOwnHost, observer, auth, isStopping = () => false } = options;
  app.addHook('onRequest', async (request, reply) => {
    const visit = visitOf(request);
    const { correlation } = visit;
    reply.headers(COMMON_HEADERS).header(CORRELATION_HEADER, correlation.id);
    // The client's next request goes to a server that stays.
    if (isStopping() || stopping.aborted) reply.header('connection', 'close');
    const { door = 'open' } = request.routeOptions.config;
    visit.place = load.enter(reply, door, request.socket.remoteAddress ?? '');
    if (correlation.problem !== null) throw correlation.problem;
    if (request.headers.host === undefined) throw new PawlError('REQUEST_INVALID', 'the header Host is missing');
    refuseEncoded(request.headers['content-encoding']);
    if (isOwnHost?.(request.hostname) === false) {
      const message = 'without authentication, requests must be addressed to this machine by its loopback name';
      throw new PawlError('FORBIDDEN', message);
    }
    if (auth.mode === 'loose' && fromElsewhere(request.method, request.headers)) {
      throw new PawlError('FORBIDDEN', 'without authentication, a page of another origin may ask for nothing');
    }
    watch.read(request.raw, () => giveUpBody(request));
  });
  app.addHook('onResponse', async (request, reply) => {
    const { correlation, caller } = visitOf(request);
    observer?.answered({
      method: request.method,
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      correlationId: correlation.id,
      caller,
    });
  });
}

/** The framework listens for body errors and refuses the request. */
function giveUpBody({ raw }: FastifyRequest): void {
  if (raw.listenerCount('error') === 0) raw.socket.destroy();
  else raw.emit('error', new PawlError('REQUEST_TIMEOUT', 'the body of the request comes too slowly'));
}

interface Desk {
  readonly options: AppOptions;
  readonly visitOf: VisitOf;
  readonly stopping: AbortSignal;
  readonly load: Load;
  readonly watch: BodyWatch;
  readonly open: HeldOpen;
  readonly identify: Identify;
  readonly guard: Guard;
}

/** Runs work that needs the database, or refuses it while the database does not answer. */
export type Guard = <Result>(work: () => Promise<Result>) => Promise<Result>;

declare module 'fastify' {
  interface FastifyContextConfig {
    door?: Door;
  }
}

const doorOf = ({ access, unlimited }: RouteSpec): Door =>
  access !== 'public' ? 'guarded' : unlimited === true ? 'probe' : 'open';

function mount(scope: FastifyInstance, route: RouteSpec, desk: Desk): void {
  const { options, visitOf, stopping, watch, open } = desk;
  // Probes report a silent database by themselves.
  const guard: Guard = route.unlimited === true ? (work) => work() : desk.guard;
  scope.route({
    method: route.method,
    url: route.path,
    config: { door: doorOf(route) },
    onRequest: async (request, reply) => {
      const visit = visitOf(request);
      if (route.access === 'public') {
        route.refuseEarly?.(readParams(route, request.params));
        return;
      }
      await guard(() => visit.place!.during(() => admit(route, desk, visit, request, reply)));
      watch.known(request.raw);
    },
    handler: async (request, reply) => {
      const { correlation, caller, place } = visitOf(request);
      watch.done(request.raw);
      const isLong = wantsEventStream(request.headers) || hasWait(request.query);
      const ended = isLong && caller !== null ? open.until(request.headers, reply) : null;
      const signal = () => AbortSignal.any([stopping, gone(reply), ...(ended === null ? [] : [ended])]);
      if (wantsEventStream(request.headers)) place!.checkStreams();
      else if (isLong) place!.wait();
      const aside = isLong ? <Result>(work: () => Promise<Result>) => work() : asideOf(place!);
      const asked = readRequest(route, request, { correlation, caller, signal, aside });
      const work = async () => {
        await refuseBeyond(caller, route, asked, options.workflowOf);
        return route.handle(await placed(asked, options.tenantOf));
      };
      // The role `System` covers every tenant.
      const isWalled = caller !== null && !caller.roles.has('System');
      const answer = await inTenant(caller?.tenantId ?? STRANGERS, () => guard(() => place!.during(work)), isWalled);
      if (options.checkAnswers === true) checkAnswer(route, answer);
      if (route.sensitive === true && caller !== null) {
        options.witness?.({ action: 'access.read', route: `${route.method} ${route.path}` }, caller, correlation.id);
      }
      if (answer.stream !== undefined) place!.stream();
      return send(reply, maySeeCallbacks(caller) ? answer : masked(answer), request.method === 'HEAD');
    },
  });
}

/** A long poll: `?wait=30s`. */
const hasWait = (query: unknown): boolean => ((query ?? {}) as { wait?: unknown }).wait !== undefined;

/** For a request that waits without having asked to: null when no waiting place is left. */
function asideOf(place: Place): Aside {
  return (work) => {
    try {
      place.wait();
    } catch {
      return null;
    }
    return work();
  };
}

type Asked = ReturnType<typeof readRequest>;

/** In loose mode the id of an execution or run determines the tenant. */
async function placed(asked: Asked, tenantOf: TenantOf | undefined): Promise<Asked> {
  const { caller, params } = asked;
  if (caller?.tenantIsOpen !== true || tenantOf === undefined) return asked;
  const { executionId, runId } = (params ?? {}) as { executionId?: string; runId?: string };
  if (executionId === undefined && runId === undefined) return asked;
  const id = { ...(executionId === undefined ? {} : { executionId }), ...(runId === undefined ? {} : { runId }) };
  const tenantId = await tenantOf(id, caller.tenantId);
  return tenantId === null ? asked : { ...asked, caller: { ...caller, tenantId } };
}

/** Callers without access are refused before the body is read. */
async function admit(
  route: RouteSpec,
  { identify, options: { rateLimiter, readLimiter = rateLimiter } }: Desk,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const caller = await identify(request, reply, visit.place!);
  visit.caller = caller;
  const scopes = scopesOf(route);
  if (route.access !== 'authenticated' && !scopes.some((scope) => caller.scopes.has(scope))) {
    throw new PawlError('FORBIDDEN', `this needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`);
  }
  if (route.role !== undefined && !caller.roles.has(route.role)) {
    throw new PawlError('FORBIDDEN', `this concerns every tenant, and needs the role \`${route.role}\``);
  }
  const isStream = route.unlimited === 'streams' && wantsEventStream(request.headers);
  if (caller.loose || route.unlimited === true || isStream) return;
  const limiter = request.method === 'GET' || request.method === 'HEAD' ? readLimiter : rateLimiter;
  reply.headers((await inTenant(caller.tenantId, async () => limiter?.spend(caller.rateKey))) ?? {});
}

function parseJson(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json\b/,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) =>
      bytes.length === 0 ? undefined : readJsonBody(jsonTextOf(bytes, request.headers['content-type'])),
  );
}

/** A compressed body would be misread, and unpacking it invites bombs. */
function refuseEncoded(encoding = 'identity'): void {
  if (/^identity$/i.test(encoding)) return;
  const message = `the body must be sent as it is, without content-encoding ${encoding.slice(0, 40)}`;
  throw new PawlError('UNSUPPORTED_MEDIA_TYPE', message);
}

/** A malformed content type is ignored; the framework would refuse the request before the body was read. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

function keepBytes(scope: FastifyInstance): void {
  scope.addHook('onRequest', async ({ headers }) => {
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      delete headers['content-type'];
  });
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => bytes);
}

/** Aborts when the connection closes before the answer was sent. */
function gone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenClosed(reply, () => controller.abort());
  return controller.signal;
}

/** Written here, so that the text can be masked before it leaves. */
function masked({ body, stream, headers, ...answer }: Answer): Answer {
  if (stream !== undefined) return { ...answer, ...(headers && { headers }), stream: maskedStream(stream) };
  if (body === undefined || typeof body === 'string') return { ...answer, body, ...(headers && { headers }) };
  const json = { 'content-type': 'application/json; charset=utf-8' };
  return { ...answer, headers: { ...json, ...headers }, body: maskCallbacks(JSON.stringify(body)) };
}
