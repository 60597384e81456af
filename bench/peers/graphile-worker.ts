// graphile-worker: a job queue on PostgreSQL. It has no workflows: ten steps in a row are ten jobs, each of which adds the next,
// which is the least that survives a crash in the middle. The settings are those of its own performance test, with and without
// its batching; the better one counts.

import { setTimeout as delay } from 'node:timers/promises';
import { Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker';
import {
  countdown,
  oneByOne,
  STEPS,
  seconds,
  settings,
  tellLatency,
  tellProgress,
  tellRate,
  warmUpFor,
} from './protocol.ts';

const AT_ONCE = 24;
const BATCH = 500;
const WARM_UP_JOBS = 300;

const { databaseUrl, oneStep, tenStep, latency, warmUpMs } = settings();
const ends = countdown();
const quiet = new Logger(() => () => {});
const preset = {
  worker: {
    connectionString: databaseUrl,
    concurrentJobs: AT_ONCE,
    maxPoolSize: AT_ONCE + 1,
    localQueue: { size: BATCH, refetchDelay: { durationMs: 10 } },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger: quiet,
  },
};
/**
 * Batching trades latency for throughput, and a job that adds the next one waits for the batch. So it is measured without
 * batching as well.
 */
const promptPreset = {
  worker: { ...preset.worker, localQueue: { size: -1, refetchDelay: { durationMs: 10 } }, completeJobBatchDelay: -1 },
};

interface Payload {
  readonly x: number;
  readonly left: number;
}

const taskList = {
  async step(payload: unknown, { addJob }: { addJob(name: string, payload: Payload): Promise<unknown> }) {
    const { x, left } = payload as Payload;
    if (left > 1) await addJob('step', { x, left: left - 1 });
    else ends.tick();
  },
};

const utilities = await makeWorkerUtils({ preset });
await utilities.migrate();
await warmUpFor(warmUpMs, async () => {
  await measure(preset, WARM_UP_JOBS, 1);
  await measure(promptPreset, WARM_UP_JOBS, STEPS);
});
tellRate('one-step', 'executions/s', oneStep, {
  batched: await measure(preset, oneStep, 1),
  prompt: await measure(promptPreset, oneStep, 1),
});
tellRate('ten-step', 'steps/s', tenStep * STEPS, {
  batched: await measure(preset, tenStep, STEPS),
  prompt: await measure(promptPreset, tenStep, STEPS),
});

tellProgress('ten steps, one at a time');
const runner = await run({ preset: promptPreset, taskList, noHandleSignals: true });
await delay(500);
tellLatency(
  await oneByOne(latency, async () => {
    const end = ends.expect(1);
    await utilities.addJob('step', { x: 1, left: STEPS });
    await end;
  }),
);
await runner.stop();
await utilities.release();
process.exit();

/** From the start of the worker to the last end. */
async function measure(chosen: typeof preset, count: number, steps: number): Promise<number> {
  tellProgress(`${count} × ${steps} jobs`);
  for (let done = 0; done < count; done += BATCH) {
    const jobs = Array.from({ length: Math.min(BATCH, count - done) }, () => ({
      identifier: 'step',
      payload: { x: 1, left: steps },
    }));
    await utilities.addJobs(jobs);
  }
  const all = ends.expect(count);
  let runner: Runner | undefined;
  const measured = await seconds(async () => {
    runner = await run({ preset: chosen, taskList, noHandleSignals: true });
    await all;
  });
  await runner?.stop();
  return measured;
}
