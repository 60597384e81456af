// Closes the connections of a stopping server: idle ones at once (kept for a next request, or opened in advance by a browser),
// the others after their answer.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_MS = 50;

/** The returned function starts closing connections until none is left. */
export function unusedConnections(server: Server): () => void {
  // Node's list of idle connections only contains those that had a request.
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  return () => {
    const close = () => {
      server.closeIdleConnections();
      for (const socket of silent) socket.destroy();
    };
    const looking = setInterval(close, LOOK_MS);
    server.once('close', () => clearInterval(looking));
    close();
  };
}
