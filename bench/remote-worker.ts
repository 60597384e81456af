// A worker in a process of its own, for what a remote attempt costs. It tells its parent when it is ready.

import { createWorker } from '../src/main.ts';

await createWorker({ taskQueues: [process.argv[2]!] });
process.send?.('ready');
