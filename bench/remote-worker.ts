// A worker in a separate process, to measure the cost of a remote attempt. It tells its parent when it is ready.

import { createWorker } from '../src/main.ts';

await createWorker({ taskQueues: [process.argv[2]!] });
process.send?.('ready');
