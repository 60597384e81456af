// A network between a client and PostgreSQL that can go silent: sockets stay open, and nothing comes.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Network {
  readonly connectionString: string;
  /** From now on what is sent stays where it is, until it thaws; connections are accepted all the same. */
  freeze(): void;
  thaw(): void;
  notesHeld(): number;
  close(): void;
}

export async function openNetwork(target: URL): Promise<Network> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let held: { to: Socket; bytes: Buffer }[] = [];
  const relay = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('error', () => {});
    from.on('data', (bytes) => {
      if (isFrozen) held.push({ to, bytes });
      else to.write(bytes);
    });
    from.on('end', () => isFrozen || to.end());
  };
  // Half open: one end that leaves is answered by the other end, not by the network.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    relay(client, upstream);
    relay(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  return {
    connectionString: url.href,
    freeze: () => {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
      for (const { to, bytes } of held) to.write(bytes);
      held = [];
    },
    notesHeld: () => held.filter(({ bytes }) => bytes.includes('select pg_notify')).length,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
