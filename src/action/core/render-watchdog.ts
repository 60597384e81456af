// Ends a rendering process with an endless job when its parent is gone. A separate thread, because an endless job blocks its own.

import { workerData } from 'node:worker_threads';

const { current, limitMs } = workerData as { current: Int32Array; limitMs: number };

for (;;) {
  Atomics.wait(current, 0, 0);
  const job = Atomics.load(current, 0);
  if (job !== 0 && Atomics.wait(current, 0, job, limitMs) === 'timed-out') process.kill(process.pid, 'SIGKILL');
}
