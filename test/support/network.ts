// A network between a client and PostgreSQL that can go silent: sockets stay open, and no data arrives.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Network {
  readonly connectionString: string;
  /** From now on data is held back until the network thaws; connections are still accepted. */
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
  // Half open: when one end leaves, the other end answers it, not the network.
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
