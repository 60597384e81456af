// A request that is refused before its body was read: its sender is still at it, and most read the answer only when they have sent
// everything. A connection that is closed meanwhile is reset, and the answer is lost with it. So what is still coming is read
// first, and thrown away; up to a limit, because some never end.

import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 32 * 1024 * 1024;

/** Whether that was all of it. Takes no longer than sending a request may take. */
export function readUnread(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    if (request.destroyed) return resolve(false);
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) resolve(false);
    });
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
    request.resume();
  });
}
