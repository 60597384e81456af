// A real server on its own real database, in strict mode, and a client that can act for any tenant.

import { SignJWT } from 'jose';
import { afterAll, beforeAll } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl, type PawlOptions } from '../../src/main.ts';
import { ROLES, SCOPES } from '../../src/protocol/scope.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

export const SECRET = 'a-shared-secret-of-the-tests-that-is-long-enough';
export const ISSUER = 'https://issuer.example';
export const AUDIENCE = 'pawl-tests';

export interface Claims {
  readonly tenant?: string;
  readonly subject?: string;
  readonly scope?: string | readonly string[];
  readonly roles?: readonly string[];
  readonly more?: JsonObject;
}

/** A token with every scope, unless told otherwise. */
export function tokenFor({
  tenant = 'acme',
  subject = 'ada',
  scope = SCOPES,
  roles = ROLES,
  more = {},
}: Claims = {}): Promise<string> {
  return new SignJWT({ tenant_id: tenant, scope: typeof scope === 'string' ? scope : scope.join(' '), roles, ...more })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(subject)
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(SECRET));
}

export interface Reply<Body = JsonObject> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface TestServer {
  pawl: Pawl;
  url: string;
  database: TestDatabase;
  /** Asks as Ada of `acme`, who may do everything; `token: null` sends no token. */
  ask(method: string, path: string, options?: AskOptions): Promise<Reply>;
  get(path: string, options?: AskOptions): Promise<Reply>;
  post(path: string, body?: unknown, options?: AskOptions): Promise<Reply>;
}

export interface AskOptions {
  readonly token?: string | null;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

/** Registers the hooks of the test file; the parts are ready when its tests run. */
export function useServer(options: PawlOptions = {}): TestServer {
  const server = {} as TestServer;
  let ada: string;
  server.ask = async (method, path, { token = ada, body, text, headers = {} } = {}) => {
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const content = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true && content !== '';
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(content) : content };
  };
  server.get = (path, asked) => server.ask('GET', path, asked);
  server.post = (path, body, asked) => server.ask('POST', path, { body, ...asked });
  beforeAll(async () => {
    ada = await tokenFor();
    server.database = await testDatabase();
    const own = strict(server.database.connectionString);
    server.pawl = await createPawl({ ...own, ...options, database: { ...own.database, ...options.database } });
    server.url = server.pawl.url!;
  });
  afterAll(async () => {
    await server.pawl?.close();
    await server.database?.drop();
  });
  return server;
}

function strict(url: string): PawlOptions {
  return {
    serve: true,
    database: { url },
    server: { port: 0, checkAnswers: true },
    auth: { secret: SECRET, issuer: ISSUER, audience: AUDIENCE },
    rateLimit: {
      ...{ perTokenPerMinute: 1_000_000, perTokenBurst: 1_000_000 },
      ...{ readsPerTokenPerMinute: 1_000_000, readsPerTokenBurst: 1_000_000 },
    },
    http: { allowLoopback: true },
    engine: { pollMs: 50, inboxPollMs: 50, drainMs: 1_000 },
  };
}

/** One node after the other. */
export function chain(id: string, ...nodes: JsonObject[]): JsonObject {
  return {
    id,
    displayName: id,
    startNode: nodes[0]!.id!,
    nodes: nodes.map((node, index) => {
      const next = nodes[index + 1]?.id;
      return next === undefined ? node : { ...node, edges: [{ targetNode: next }] };
    }),
  };
}

export const echo = (id: string, parameters: JsonObject = {}): JsonObject => ({
  id,
  actionType: 'core.echo',
  parameters,
});

/** A node that works until it is stopped. */
export const sleep = (id: string, durationMs: number): JsonObject => ({
  id,
  actionType: 'core.delay',
  parameters: { durationMs },
});
