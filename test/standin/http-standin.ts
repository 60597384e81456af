// What the stand-ins for HTTP APIs share: a real server on the loopback address that keeps every request, and faults that a test
// requests in advance. The next request that matches a fault uses it up.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface StandinRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface StandinAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string as it is. */
  readonly body: unknown;
}

type Fault = { readonly matching?: string } & (
  | { readonly kind: 'answer'; readonly answer: StandinAnswer }
  /** The work is done and the connection is closed: the client cannot know the outcome. */
  | { readonly kind: 'loseAnswer' }
  /** The work is done and nothing is answered; `done` is called, so that the client can be killed at that very point. */
  | { readonly kind: 'withhold'; readonly done: () => void }
  /** No answer until the client disconnects. */
  | { readonly kind: 'hang' }
);

export interface HttpStandin {
  /** Without a trailing slash. */
  readonly url: string;
  readonly requests: StandinRequest[];
  /** `matching`: a part of the path or the body. */
  inject(...faults: Fault[]): void;
  /** Resolves when the next request has come in, whatever happens to it. */
  nextRequest(): Promise<StandinRequest>;
  /** Resolves when a client has disconnected from a hanging request. */
  readonly abandoned: Promise<void>;
  close(): Promise<void>;
}

export async function httpStandin(
  handle: (request: StandinRequest) => StandinAnswer | Promise<StandinAnswer>,
): Promise<HttpStandin> {
  const requests: StandinRequest[] = [];
  const faults: Fault[] = [];
  const waiting: ((request: StandinRequest) => void)[] = [];
  const sockets = new Set<Socket>();
  const abandoned = Promise.withResolvers<void>();

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '/', headers } = incoming;
    const url = new URL(path, 'http://standin');
    const request = { method, url, headers, body: Buffer.concat(chunks).toString() };
    requests.push(request);
    for (const resolve of waiting.splice(0)) resolve(request);
    const fault = takeFault(faults, request);
    if (fault?.kind === 'hang') response.on('close', abandoned.resolve);
    else if (fault?.kind === 'answer') send(response, fault.answer);
    else {
      const answer = await handle(request);
      if (fault?.kind === 'loseAnswer') incoming.socket.destroy();
      else if (fault?.kind === 'withhold') fault.done();
      else send(response, answer);
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    inject: (...added) => void faults.push(...added),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    abandoned: abandoned.promise,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function takeFault(faults: Fault[], { url, body }: StandinRequest): Fault | undefined {
  const index = faults.findIndex(({ matching = '' }) => url.pathname.includes(matching) || body.includes(matching));
  return index < 0 ? undefined : faults.splice(index, 1)[0];
}

function send(response: ServerResponse, { status, headers = {}, body }: StandinAnswer): void {
  const isText = typeof body === 'string';
  const type = { 'content-type': isText ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8' };
  response.writeHead(status, { ...type, ...headers }).end(isText ? body : JSON.stringify(body));
}

/** The first header that does not match, or null. */
export function headerProblem({ headers }: StandinRequest, expected: Readonly<Record<string, RegExp>>): string | null {
  for (const [name, pattern] of Object.entries(expected)) {
    const value = headers[name];
    if (typeof value !== 'string' || !pattern.test(value)) return `${name}: ${value ?? 'missing'}`;
  }
  return null;
}
