// Counts the statements between clients and a PostgreSQL server: a proxy that understands just enough of the frames. It sees
// everything that a process sends, through any pool or thread.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface QueryCounter {
  /** The same database, through the counter. */
  readonly url: string;
  count(): number;
  /** How often each prepared statement ran, by its name. */
  readonly byName: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const BIND = 'B'.charCodeAt(0);
const EXECUTE = 'E'.charCodeAt(0);
const SIMPLE_QUERY = 'Q'.charCodeAt(0);

export async function countQueries(databaseUrl: string): Promise<QueryCounter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let queries = 0;
  const byName = new Map<string, number>();
  const server = createServer((client) => {
    const upstream = reach(target);
    const readFrames = frameReader((type, body) => {
      if (type === EXECUTE || type === SIMPLE_QUERY) queries++;
      if (type !== BIND) return;
      const name = statementOf(body);
      byName.set(name, (byName.get(name) ?? 0) + 1);
    });
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    }
    client.on('data', readFrames);
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    count: () => queries,
    byName,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Connects by the socket in its folder, if the server is reached that way. */
function reach({ searchParams, hostname, port: given }: URL): Socket {
  const port = Number(given || 5432);
  const host = searchParams.get('host') ?? hostname;
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
}

/** In a Bind message: the names of the portal and of the statement, each ended by a zero. */
function statementOf(body: Buffer): string {
  const from = body.indexOf(0) + 1;
  return body.toString('utf8', from, body.indexOf(0, from));
}

/** Calls back with the type and the body of every message after the startup message, which has no type. */
function frameReader(message: (type: number, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < length) return;
      if (typeBytes === 1) message(rest[0]!, rest.subarray(5, length));
      typeBytes = 1;
      rest = rest.subarray(length);
    }
  };
}
