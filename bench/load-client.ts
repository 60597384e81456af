// The callers of scenario/http.ts, in a separate process: a number of connections, each of which sends its next request as soon
// as it gets an answer. Plain sockets, because on a machine with two cores a client library would take CPU time from the server.

import { createConnection, type Socket } from 'node:net';

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A header with a new value in every request. */
  readonly idHeader?: string;
  readonly connections: number;
  readonly requests: number;
}

export interface LoadResult {
  readonly seconds: number;
  /** The milliseconds of each request. */
  readonly waits: number[];
}

if (process.send !== undefined && process.argv[1]?.endsWith('load-client.ts')) {
  process.on('disconnect', () => process.exit());
  process.on('message', (load: Load) => {
    run(load).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
  process.send('ready');
}

async function run(load: Load): Promise<LoadResult> {
  const { port, path, body, connections, headers = {}, idHeader } = load;
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  const salt = Math.random().toString(36).slice(2);
  const requestOf = (n: number) =>
    `${head}${idHeader === undefined ? '' : `\r\n${idHeader}: ${salt}-${n}`}\r\n\r\n${body}`;
  const waits: number[] = [];
  let left = load.requests;
  const ask = async () => {
    const connection = await open(port);
    while (left-- > 0) {
      const sentAt = performance.now();
      connection.socket.write(requestOf(left));
      await connection.answer();
      waits.push(performance.now() - sentAt);
    }
    connection.socket.destroy();
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, ask));
  return { seconds: (performance.now() - startedAt) / 1000, waits };
}

interface Connection {
  readonly socket: Socket;
  /** Resolves with the next answer; rejects when it is not a 2xx. */
  answer(): Promise<void>;
}

function open(port: number): Promise<Connection> {
  let received = '';
  let waiting: PromiseWithResolvers<void> | null = null;
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    const end = endOfAnswer(received);
    if (end === null || received.length < end) return;
    const first = received.slice(0, received.indexOf('\r\n'));
    received = received.slice(end);
    if (/^HTTP\/1.1 2/.test(first)) waiting?.resolve();
    else waiting?.reject(new Error(`the server answered ${first}`));
  });
  socket.on('error', (error) => waiting?.reject(error));
  const answer = () => {
    waiting = Promise.withResolvers();
    return waiting.promise;
  };
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve({ socket, answer }));
    socket.once('error', reject);
  });
}

/** Where the answer at the beginning of the text ends; null: its head is not complete. */
function endOfAnswer(text: string): number | null {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return null;
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head)) ?? [];
  return head + 4 + Number(length);
}
