// Stands between a client and a server, and lets a test cut or slow down the traffic.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** The port that connections go to; null: connections are refused, and open ones are cut. */
  target(port: number | null): void;
  /** Delays the answers of the server by this time. */
  delay(ms: number): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetPort: number | null = null): Promise<TcpProxy> {
  let to = targetPort;
  let delayMs = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (to === null) return void client.destroy();
    const upstream = connect(to, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      if (delayMs === 0) client.write(bytes);
      else setTimeout(() => client.write(bytes), delayMs);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    target(port) {
      to = port;
      cut();
    },
    delay(ms) {
      delayMs = ms;
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
