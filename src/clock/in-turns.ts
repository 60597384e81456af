// Runs work of many steps without blocking the event loop: other callbacks get a turn in between (S4).

import type { Steps } from '../core/steps/steps.ts';

const STRETCH_MS = 10;

export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (let startedAt = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - startedAt < STRETCH_MS) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    startedAt = performance.now();
  }
}
