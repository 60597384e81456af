// The HTTP application: every declared route behind the same gates, in this order: correlation id, whether there is room (503),
// who asks (401), whether the scope allows it (403), how often (429), the body's limits (413, 415), ids (404), query and body
// (400). Deny by default: a route that is not declared with its access does not exist (S2).

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Auth } from './auth/authenticator.ts';
import type { Caller } from './caller.ts';
import { unusedConnections } from './connections.ts';
import { CORRELATION_HEADER, type Correlation, correlationOf } from './correlation.ts';
import { methodNotAllowed, notFound, refusalOf } from './error-envelope.ts';
import { wantsEventStream } from './event-stream.ts';
import { jsonTextOf, readJsonBody } from './json-body.ts';
import { createLoad, type Load, type Place, whenClosed } from './load.ts';
import { methodTable } from './method-table.ts';
import type { RateLimiter } from './rate-limit.ts';
import { readRequest } from './request.ts';
import { type Answer, type RouteSpec, scopesOf } from './route.ts';
import { readUnread } from './unread-body.ts';

export interface AppOptions {
  readonly routes: readonly RouteSpec[];
  readonly auth: Auth;
  readonly bodyLimitBytes?: number;
  /** Null: requests are not counted. */
  readonly rateLimiter?: RateLimiter | null;
  /** Host names that requests may be addressed to; absent: any. Loose mode names loopback, against DNS rebinding. */
  readonly hosts?: ReadonlySet<string>;
  readonly observer?: AppObserver;
  /** Whose an execution or a run is, for loose requests that do not say it. */
  readonly tenantOf?: TenantOf;
  /** More requests than this at once are told to come back, before anything is done for them (I21). */
  readonly maxInFlight?: number;
  /** Streams are open for as long as their client likes, and each one asks the database now and then. */
  readonly maxStreams?: number;
  /** For tests: an answer that does not match its declared schema is an error. */
  readonly checkAnswers?: boolean;
}

/** `own`: the tenant that a request means which says nothing. */
export type TenantOf = (
  id: { readonly executionId?: string; readonly runId?: string },
  own: string,
) => Promise<string | null>;

export interface AppObserver {
  answered(request: AnsweredRequest): void;
  failed(error: unknown, correlationId: string): void;
}

export interface AnsweredRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly correlationId: string;
  readonly caller: Caller | null;
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const MAX_PARAM_LENGTH = 512;
const KEEP_ALIVE_MS = 65_000;
/** To send a request, not to answer it. */
const REQUEST_TIMEOUT_MS = 60_000;
const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

export function createApp(options: AppOptions): FastifyInstance {
  const visitOf = createVisits();
  const refuse = refuser(options, visitOf);
  const app = fastify({
    logger: false,
    exposeHeadRoutes: true,
    bodyLimit: options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    // What is missing is missed below, in our own words.
    http: { requireHostHeader: false },
    clientErrorHandler: refuseMalformed,
    frameworkErrors: (error, request, reply) => refuse(error, request, reply as FastifyReply),
  });
  const stopping = new AbortController();
  const load = createLoad(options);
  const desk = { options, visitOf, stopping: stopping.signal, load };
  const closeUnused = unusedConnections(app.server);
  app.addHook('preClose', async () => {
    stopping.abort();
    if (app.server.listening) closeUnused();
  });
  app.setErrorHandler(refuse);
  const methodsAt = methodTable(options.routes);
  app.setNotFoundHandler(async (request, reply) => {
    const methods = methodsAt(request.url);
    if (methods.length === 0) throw notFound(request.method, request.url);
    if (request.method !== 'OPTIONS') throw methodNotAllowed(request.method, methods);
    return reply.header('allow', methods.join(', ')).code(204).send();
  });
  greetAndReport(app, desk);
  for (const [kind, parser] of Object.entries({ json: parseJson, any: keepText })) {
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      parser(scope);
      const routes = options.routes.filter(({ bodyKind = 'json' }) => bodyKind === kind);
      for (const route of routes) mount(scope, route, desk);
    });
  }
  return app;
}

/** What is known about a request while it is here. */
interface Visit {
  readonly correlation: Correlation;
  caller: Caller | null;
  /** Null until there was room for it. */
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

function refuser({ observer, bodyLimitBytes = DEFAULT_BODY_LIMIT }: AppOptions, visitOf: VisitOf) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { id } = visitOf(request).correlation;
    const refusal = refusalOf(error, { correlationId: id, at: new Date(), bodyLimitBytes });
    if (refusal.unexpected) observer?.failed(error, id);
    const isRead = request.raw.complete || (await readUnread(request.raw));
    // fastify would close after any body that is too large.
    if (isRead) reply.removeHeader('connection');
    else reply.header('connection', 'close');
    return reply.header(CORRELATION_HEADER, id).headers(refusal.headers).code(refusal.status).send(refusal.body);
  };
}

function greetAndReport(app: FastifyInstance, { options: { hosts, observer }, visitOf, load }: Desk): void {
  app.addHook('onRequest', async (request, reply) => {
    const visit = visitOf(request);
    const { correlation } = visit;
    reply.headers(COMMON_HEADERS).header(CORRELATION_HEADER, correlation.id);
    visit.place = load.enter(reply, request.routeOptions.config.unlimited === true);
    if (correlation.problem !== null) throw correlation.problem;
    if (request.headers.host === undefined) throw new PawlError('REQUEST_INVALID', 'the header Host is missing');
    refuseEncoded(request.headers['content-encoding']);
    if (hosts !== undefined && !hosts.has(request.hostname)) {
      const message = 'without authentication, requests must be addressed to this machine by its loopback name';
      throw new PawlError('FORBIDDEN', message);
    }
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

interface Desk {
  readonly options: AppOptions;
  readonly visitOf: VisitOf;
  readonly stopping: AbortSignal;
  readonly load: Load;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    unlimited?: boolean;
  }
}

function mount(scope: FastifyInstance, route: RouteSpec, { options, visitOf, stopping, load }: Desk): void {
  scope.route({
    method: route.method,
    url: route.path,
    config: { unlimited: route.unlimited === true },
    onRequest: async (request, reply) => {
      const visit = visitOf(request);
      if (route.access !== 'public') await visit.place!.during(() => admit(route, options, visit, request, reply));
    },
    handler: async (request, reply) => {
      const { correlation, caller, place } = visitOf(request);
      const signal = () => AbortSignal.any([stopping, gone(reply)]);
      if (wantsEventStream(request.headers)) load.checkStreams();
      const asked = readRequest(route, request, { correlation, caller, signal });
      const answer = await place!.during(async () => route.handle(await placed(asked, options.tenantOf)));
      if (options.checkAnswers === true) checkAnswer(route, answer);
      if (answer.stream !== undefined) place!.stream();
      return send(reply, answer, request.method === 'HEAD');
    },
  });
}

type Asked = ReturnType<typeof readRequest>;

/** Where nobody proves anything, an id says which tenant is meant. */
async function placed(asked: Asked, tenantOf: TenantOf | undefined): Promise<Asked> {
  const { caller, params } = asked;
  if (caller?.tenantIsOpen !== true || tenantOf === undefined) return asked;
  const { executionId, runId } = (params ?? {}) as { executionId?: string; runId?: string };
  if (executionId === undefined && runId === undefined) return asked;
  const id = { ...(executionId === undefined ? {} : { executionId }), ...(runId === undefined ? {} : { runId }) };
  const tenantId = await tenantOf(id, caller.tenantId);
  return tenantId === null ? asked : { ...asked, caller: { ...caller, tenantId } };
}

/** Who may not come in is refused before anything of the body is read. */
async function admit(
  route: RouteSpec,
  { auth, rateLimiter }: AppOptions,
  visit: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const caller = await auth.authenticate(request.headers);
  visit.caller = caller;
  const scopes = scopesOf(route);
  if (!scopes.some((scope) => caller.scopes.has(scope))) {
    throw new PawlError('FORBIDDEN', `this needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`);
  }
  if (caller.loose || route.unlimited === true) return;
  reply.headers((await rateLimiter?.spend(caller.rateKey)) ?? {});
}

function parseJson(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json\b/,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) =>
      bytes.length === 0 ? undefined : readJsonBody(jsonTextOf(bytes, request.headers['content-type'])),
  );
}

/** A body that is packed would be taken for what it is not; unpacking it is an invitation to bombs. */
function refuseEncoded(encoding = 'identity'): void {
  if (/^identity$/i.test(encoding)) return;
  const message = `the body must be sent as it is, without content-encoding ${encoding.slice(0, 40)}`;
  throw new PawlError('UNSUPPORTED_MEDIA_TYPE', message);
}

/** A content type that is none says nothing about the body; the framework would refuse it before anybody has seen the body. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;

function keepText(scope: FastifyInstance): void {
  scope.addHook('onRequest', async ({ headers }) => {
    if (headers['content-type'] !== undefined && !MEDIA_TYPE.test(headers['content-type']))
      delete headers['content-type'];
  });
  scope.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, text: string) => text);
}

const MALFORMED = ['400 Bad Request', 'this is not an HTTP request that can be understood'] as const;
const MALFORMED_BY: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers of the request are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not come to its end in time'],
};

/** What is not even HTTP: there is no request to answer, only a socket. */
function refuseMalformed(this: FastifyInstance, error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return;
  const [status, message] = MALFORMED_BY[error.code ?? ''] ?? MALFORMED;
  const problem = new PawlError('REQUEST_INVALID', message);
  const context = { correlationId: correlationOf({}).id, at: new Date(), bodyLimitBytes: DEFAULT_BODY_LIMIT };
  const body = JSON.stringify(refusalOf(problem, context).body);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}

/** Aborts when the connection closes before the answer was sent. */
function gone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenClosed(reply, () => controller.abort());
  return controller.signal;
}

function send(reply: FastifyReply, { status, body, headers, stream }: Answer, isHead: boolean): FastifyReply {
  reply.code(status).headers(headers ?? {});
  // A stream has no end to measure, and nobody reads it.
  if (isHead && stream !== undefined) return reply.send();
  return reply.send(stream === undefined ? body : Readable.from(stream, { objectMode: false }));
}

function checkAnswer(route: RouteSpec, { status, body, stream, headers }: Answer): void {
  const schema = route.responses[status];
  const isText = stream !== undefined || typeof body === 'string';
  if (isText && headers?.['content-type']?.split(';')[0] !== route.sends) {
    throw new Error(`${route.method} ${route.path} does not declare that it sends ${headers?.['content-type']}`);
  }
  if (schema === undefined) throw new Error(`${route.method} ${route.path} does not declare the status ${status}`);
  if (schema !== null && stream === undefined) schema.parse(JSON.parse(JSON.stringify(body)));
}
