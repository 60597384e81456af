// Whether a port can be listened on.

import { createServer } from 'node:net';

/** The server itself reports other problems with the address. */
export function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'));
    probe.listen({ host, port }, () => probe.close(() => resolve(true)));
  });
}
