// Ends a rendering process whose job never ends, when the process that would have stopped it is gone. A thread beside the job,
// because a job that does not end lets nothing else of its own thread run.

import { workerData } from 'node:worker_threads';

const { current, limitMs } = workerData as { current: Int32Array; limitMs: number };

for (;;) {
  Atomics.wait(current, 0, 0);
  const job = Atomics.load(current, 0);
  if (job !== 0 && Atomics.wait(current, 0, job, limitMs) === 'timed-out') process.kill(process.pid, 'SIGKILL');
}
