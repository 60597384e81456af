// A runner as a process of its own, for tests that kill it. `test.work` never ends here, so that the process can be killed in the
// middle of it; `test.crash` ends the whole process; `test.nap` takes a moment; `test.block` takes that moment without letting
// the event loop turn. The parameters say how long.

import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createPawl, defineAction, type PawlOptions } from '../../src/main.ts';

export interface RunnerProcessSettings {
  readonly url: string;
  readonly engine: NonNullable<PawlOptions['engine']>;
  /** Environment variables besides those of the test: credentials and addresses of connectors. */
  readonly environment?: Readonly<Record<string, string>>;
}

export type RunnerProcessNews =
  | { readonly type: 'ready' }
  | { readonly type: 'began'; readonly nodeId: string; readonly executionId: string; readonly attempt: number };

const common = { version: '1.0.0', connector: 'test', category: 'Test', outputs: z.unknown() } as const;
const tell = (news: RunnerProcessNews): unknown => process.send?.(news);

const work = defineAction({
  ...common,
  type: 'test.work',
  params: z.unknown(),
  run(_params, { nodeId, executionId, attempt }) {
    tell({ type: 'began', nodeId, executionId, attempt });
    return new Promise(() => {});
  },
});

const nap = defineAction({
  ...common,
  type: 'test.nap',
  params: z.object({ ms: z.number() }),
  async run({ ms }, { nodeId, executionId, attempt }) {
    tell({ type: 'began', nodeId, executionId, attempt });
    await delay(ms);
    return { outputs: { slept: ms } };
  },
});

const block = defineAction({
  ...common,
  type: 'test.block',
  params: z.object({ ms: z.number() }),
  run({ ms }, { nodeId, executionId, attempt }) {
    tell({ type: 'began', nodeId, executionId, attempt });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return { outputs: { blocked: ms } };
  },
});

const crash = defineAction({
  ...common,
  type: 'test.crash',
  params: z.object({ afterMs: z.number() }),
  async run({ afterMs }) {
    await delay(afterMs);
    process.exit(1);
  },
});

if (process.send !== undefined) {
  const { url, engine } = JSON.parse(process.argv[2]!) as RunnerProcessSettings;
  const pawl = await createPawl({ database: { url }, engine, actions: [work, nap, block, crash] });
  process.once('SIGTERM', async () => {
    await pawl.close();
    process.disconnect();
  });
  process.on('disconnect', () => process.exit());
  tell({ type: 'ready' });
}
