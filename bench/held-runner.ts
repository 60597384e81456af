// A runner in a separate process whose actions never end: scenario/takeover.ts kills it.

import { z } from 'zod';
import { type ActionDefinition, createPawl, defineAction } from '../src/main.ts';

export function holdAction(run: () => void | Promise<void>): ActionDefinition {
  return defineAction({
    type: 'core.bench-hold',
    version: '1.0.0',
    connector: 'core',
    category: 'Bench',
    params: z.object({ x: z.number() }),
    outputs: z.object({}),
    async run() {
      await run();
      return { outputs: {} };
    },
  }) as ActionDefinition;
}

if (process.send !== undefined && process.argv[1]?.endsWith('held-runner.ts')) await hold(process.argv[2]!);

async function hold(url: string): Promise<void> {
  process.on('disconnect', () => process.exit());
  try {
    await createPawl({ database: { url }, actions: [holdAction(() => new Promise(() => {}))] });
    process.send?.('ready');
  } catch (error) {
    process.send?.(String(error));
  }
}
