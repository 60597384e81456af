// Pawl without authentication on a real port and a real database, as a client of the API sees it.

import { afterAll, beforeAll } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl, type PawlOptions } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

interface Reply<Body> {
  readonly status: number;
  readonly body: Body;
}

type Headers = Readonly<Record<string, string>>;

export interface Api {
  readonly url: string;
  readonly pawl: Pawl;
  readonly database: TestDatabase;
  get<Body = JsonObject>(path: string, headers?: Headers): Promise<Reply<Body>>;
  post<Body = JsonObject>(path: string, body?: Json, headers?: Headers): Promise<Reply<Body>>;
  send<Body = JsonObject>(method: string, path: string, body?: Json, headers?: Headers): Promise<Reply<Body>>;
}

/** An error as the API sends it. */
export interface Refusal {
  error: {
    code: string;
    message: string;
    details?: { code: string; path: string; message: string; suggestion?: string }[];
  };
}

/** Starts Pawl before the first test of a file and stops it after the last. */
export function useApi(options: PawlOptions = {}, prepare: PrepareDatabase = async () => {}): () => Api {
  let api: Api;
  let close: () => Promise<void>;
  beforeAll(async () => {
    [api, close] = await startApi(options, prepare);
  });
  afterAll(() => close());
  return () => api;
}

type PrepareDatabase = (connectionString: string) => Promise<void>;

async function startApi(options: PawlOptions, prepare: PrepareDatabase): Promise<[Api, () => Promise<void>]> {
  const database = await testDatabase();
  await prepare(database.connectionString);
  const pawl = await createPawl({
    serve: true,
    database: { url: database.connectionString },
    server: { port: 0, checkAnswers: true },
    auth: { allowLooseAuth: true },
    http: { allowLoopback: true },
    ...options,
  });
  const url = pawl.url!;
  const send = <Body>(method: string, path: string, body?: Json, headers: Headers = {}) =>
    exchange<Body>(method, path.startsWith('/wh/') ? `${url}${path}` : `${url}/api/v1${path}`, body, headers);
  const api: Api = {
    url,
    pawl,
    database,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    send,
  };
  const close = async () => {
    await pawl.close();
    await database.drop();
  };
  return [api, close];
}

async function exchange<Body>(
  method: string,
  url: string,
  body: Json | undefined,
  headers: Headers,
): Promise<Reply<Body>> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
}
