// The heap size of JavaScript objects after garbage collection.

import { Session } from 'node:inspector/promises';

export async function liveHeapBytes(): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    // Collects twice: objects that are freed only by finalisers go with the second collection.
    await session.post('HeapProfiler.collectGarbage');
    await session.post('HeapProfiler.collectGarbage');
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  } finally {
    session.disconnect();
  }
}
