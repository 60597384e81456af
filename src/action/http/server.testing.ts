// Servers on the loopback address for tests of outbound HTTP. Each test file makes one set and closes it at the end.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { Resolve } from './guard.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestServers {
  /** An HTTP server; returns its base URL without a trailing slash. */
  http(listener: RequestListener): Promise<string>;
  /** Like http, with the body read first and every request kept in `received`. */
  recording(
    answer: (request: ReceivedRequest, response: ServerResponse) => void,
  ): Promise<{ url: string; received: ReceivedRequest[] }>;
  /** For responses that are not HTTP, or incomplete. */
  tcp(onConnection: (socket: Socket) => void): Promise<string>;
  /** A URL where nothing listens. */
  refusing(): Promise<string>;
  close(): Promise<void>;
}

/** For clients that must not use DNS. */
export const resolveNothing: Resolve = (host) => Promise.reject(Object.assign(new Error(host), { code: 'ENOTFOUND' }));

export function testServers(): TestServers {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];

  const listen = async (server: Server): Promise<string> => {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    return `http://127.0.0.1:${address.port}`;
  };

  return {
    http: (listener) => listen(createServer(listener)),
    async recording(answer) {
      const received: ReceivedRequest[] = [];
      const url = await listen(
        createServer(async (request, response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of request) chunks.push(chunk);
          const { method = '', url: path = '', headers } = request;
          const complete = { method, path, headers, body: Buffer.concat(chunks).toString() };
          received.push(complete);
          answer(complete, response);
        }),
      );
      return { url, received };
    },
    tcp: (onConnection) => listen(createTcpServer(onConnection)),
    async refusing() {
      const server = createTcpServer();
      const url = await listen(server);
      await new Promise((resolve) => server.close(resolve));
      return url;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
