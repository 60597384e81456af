// The HTTP application: every declared route behind the same gates, in this order: correlation id, rate of the token,
// who asks (401), whether the scope allows it (403), the body's limits (413, 415), ids (404), query and body (400). Deny by
// default: a route that is not declared with its access does not exist (S2).

import { Readable } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Auth } from './auth/authenticator.ts';
import type { Caller } from './caller.ts';
import { CORRELATION_HEADER, type Correlation, correlationOf } from './correlation.ts';
import { notFound, refusalOf } from './error-envelope.ts';
import { readJsonBody } from './json-body.ts';
import { type RateLimiter, rateLimited } from './rate-limit.ts';
import { readRequest } from './request.ts';
import type { Answer, RouteSpec } from './route.ts';

export interface AppOptions {
  readonly routes: readonly RouteSpec[];
  readonly auth: Auth;
  readonly bodyLimitBytes?: number;
  /** Null: requests are not counted. */
  readonly rateLimiter?: RateLimiter | null;
  /** Host names that requests may be addressed to; absent: any. Loose mode names loopback, against DNS rebinding. */
  readonly hosts?: ReadonlySet<string>;
  readonly observer?: AppObserver;
  /** For tests: an answer that does not match its declared schema is an error. */
  readonly checkAnswers?: boolean;
}

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

interface Visit {
  readonly correlation: Correlation;
  caller: Caller | null;
}

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const MAX_PARAM_LENGTH = 512;
const KEEP_ALIVE_MS = 65_000;

export function createApp(options: AppOptions): FastifyInstance {
  const visits = new WeakMap<FastifyRequest, Visit>();
  const stopping = new AbortController();
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => refuse(error, request, reply as FastifyReply),
  });

  const visitOf = (request: FastifyRequest): Visit => {
    const known = visits.get(request);
    if (known !== undefined) return known;
    const visit = { correlation: correlationOf(request.headers), caller: null };
    visits.set(request, visit);
    return visit;
  };
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { id } = visitOf(request).correlation;
    const refusal = refusalOf(error, id, new Date());
    if (refusal.unexpected) options.observer?.failed(error, id);
    return reply.header(CORRELATION_HEADER, id).headers(refusal.headers).code(refusal.status).send(refusal.body);
  };

  app.addHook('onRequest', async (request, reply) => {
    const { correlation } = visitOf(request);
    reply.header(CORRELATION_HEADER, correlation.id);
    if (correlation.problem !== null) throw correlation.problem;
    if (options.hosts !== undefined && !options.hosts.has(request.hostname)) {
      throw new PawlError(
        'FORBIDDEN',
        'without authentication, requests must be addressed to this machine by its loopback name',
      );
    }
  });
  app.addHook('onResponse', async (request, reply) => {
    const { correlation, caller } = visitOf(request);
    options.observer?.answered({
      method: request.method,
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      correlationId: correlation.id,
      caller,
    });
  });
  app.addHook('preClose', async () => stopping.abort());
  app.setErrorHandler(refuse);
  app.setNotFoundHandler(async (request) => {
    throw notFound(request.method, request.url);
  });
  registerRoutes(app, 'json', parseJson);
  registerRoutes(app, 'any', keepText);
  return app;

  function registerRoutes(parent: FastifyInstance, kind: 'json' | 'any', parser: (scope: FastifyInstance) => void) {
    parent.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      parser(scope);
      for (const route of options.routes) if ((route.bodyKind ?? 'json') === kind) mount(scope, route);
    });
  }

  function mount(scope: FastifyInstance, route: RouteSpec): void {
    scope.route({
      method: route.method,
      url: route.path,
      onRequest: async (request, reply) => {
        if (route.access !== 'public') await admit(route, request, reply);
      },
      handler: async (request, reply) => {
        const { correlation, caller } = visitOf(request);
        const signal = AbortSignal.any([stopping.signal, gone(request)]);
        const answer = await route.handle(readRequest(route, request, { correlation, caller, signal }));
        if (options.checkAnswers === true) checkAnswer(route, answer);
        return send(reply, answer);
      },
    });
  }

  async function admit(route: RouteSpec, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = await options.auth.authenticate(request.headers);
    visitOf(request).caller = caller;
    if (!caller.scopes.has(route.access as never)) {
      throw new PawlError('FORBIDDEN', `this needs the scope \`${route.access}\``);
    }
    if (caller.loose || route.unlimited === true) return;
    const spent = await options.rateLimiter?.spend(caller.rateKey);
    if (spent === undefined) return;
    reply.headers(spent.headers);
    if (!spent.allowed) throw rateLimited();
  }
}

function parseJson(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json\b/,
    { parseAs: 'string' },
    async (_request: FastifyRequest, text: string) => (text === '' ? undefined : readJsonBody(text)),
  );
}

function keepText(scope: FastifyInstance): void {
  scope.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, text: string) => text);
}

/** Aborts when the connection closes before the answer was sent. */
function gone(request: FastifyRequest): AbortSignal {
  const controller = new AbortController();
  request.raw.socket?.once('close', () => controller.abort());
  return controller.signal;
}

function send(reply: FastifyReply, { status, body, headers, stream }: Answer): FastifyReply {
  reply.code(status).headers(headers ?? {});
  return reply.send(stream === undefined ? body : Readable.from(stream, { objectMode: false }));
}

function checkAnswer(route: RouteSpec, { status, body, stream }: Answer): void {
  const schema = route.responses[status];
  if (schema === undefined) throw new Error(`${route.method} ${route.path} does not declare the status ${status}`);
  if (schema !== null && stream === undefined) schema.parse(JSON.parse(JSON.stringify(body)));
}
