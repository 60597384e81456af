// What JavaScript objects occupy once nothing unneeded is left.

import { Session } from 'node:inspector/promises';

export async function liveHeapBytes(): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    // Twice: what is only freed by finalisers goes with the second.
    await session.post('HeapProfiler.collectGarbage');
    await session.post('HeapProfiler.collectGarbage');
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  } finally {
    session.disconnect();
  }
}
