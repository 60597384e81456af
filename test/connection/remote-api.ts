// An API that requires a credential, like the APIs of others: it records what every request carried.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';

export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RemoteApi {
  readonly url: string;
  readonly host: string;
  readonly seen: readonly Seen[];
  /** The answer of the API; by default 200 with an empty object. */
  answer: (seen: Seen) => { status?: number; headers?: Record<string, string>; body?: unknown };
}

export function useRemoteApi(): () => RemoteApi {
  let server: Server;
  const seen: Seen[] = [];
  let api: RemoteApi;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const one = { path: request.url ?? '', headers: request.headers };
      seen.push(one);
      const { status = 200, headers = {}, body = {} } = api.answer(one);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      request.resume().once('end', () => response.end(JSON.stringify(body)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    api = { url: `http://${host}`, host, seen, answer: () => ({}) };
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  return () => api;
}
