// Ports for servers that are killed and started again at the same address. A port that the system chooses (listen on 0) comes
// from the range that it also gives to outgoing connections: while the server is down, any connection can get the port, and keep
// it.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range that Linux, macOS and Windows give to outgoing connections. */
const [FIRST, LAST] = [12_000, 32_000];

export async function lastingPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    await once(server.close(), 'close');
    return true;
  } catch {
    return false;
  }
}
