// A request as an attacker sends it: a socket, some bytes, and no end.

import { connect, type Socket } from 'node:net';

export interface RawRequest {
  readonly socket: Socket;
  /** The bytes received so far. */
  text(): string;
  /** Resolves with the status as soon as the status line has come. */
  readonly status: Promise<number>;
  readonly closed: Promise<void>;
}

export function rawRequest(url: string, bytes: string): RawRequest {
  const { hostname, port } = new URL(url);
  let received = '';
  const status = Promise.withResolvers<number>();
  const closed = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  socket.on('data', (chunk) => {
    received += chunk.toString();
    const [, code] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? [];
    if (code !== undefined) status.resolve(Number(code));
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed.resolve();
    status.resolve(0);
  });
  return { socket, text: () => received, status: status.promise, closed: closed.promise };
}

/** A request with only one byte of its body. */
export const halfSent = (method: string, path: string, headers: readonly string[] = []): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json', 'Content-Length: 100', ...headers]
    .join('\r\n')
    .concat('\r\n\r\n{');
