// Start and await the result, in one process with its runner: a closed loop, in which each caller starts the next execution when
// the one before has ended. For comparison, the same callers that wait only for the acceptance.

import type { Pawl } from '../../src/main.ts';
import { median } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';

const CROWDS = [
  { callers: 500, reach: 0.7 },
  { callers: 5_000, reach: 0.6 },
] as const;
/** The awaited calls of the peers use the same number of callers. */
const PEER_CALLERS = 200;
const ALONE = 300;

export const awaited: Scenario = {
  name: 'awaited',
  about: 'start and await the result: 1, 200, 500 and 5,000 callers',
  async run(bench) {
    const { database, report, scaled } = bench;
    await database.clear();
    const pawl = await openPawl(database);
    try {
      const { workflowId } = await publish(pawl, chainWorkflow('one-step', 1));
      const start = () => pawl.start(workflowId, { trigger: { x: 1 } });
      const run = async () => pawl.result((await start()).executionId);
      await loop(run, PEER_CALLERS, scaled(2_000));
      const waits = await alone(run, scaled(ALONE));
      report.row('awaited-1', 'pawl', 'ms p50', median(waits));
      report.ratio('awaited-1/p50-ms', median(waits), { atMost: 3 });
      await measure(bench, `awaited-${PEER_CALLERS}`, run, PEER_CALLERS);
      for (const { callers, reach } of CROWDS) {
        const accepted = await measure(bench, `accepted-${callers}`, start, callers);
        await drained(pawl);
        const rate = await measure(bench, `awaited-${callers}`, run, callers);
        report.ratio(`awaited-${callers}/accepted`, rate / accepted, { atLeast: reach });
      }
    } finally {
      await pawl.close();
    }
  },
};

/** Our engine alone, a few rounds, for measurements that are compared with it. */
export async function awaitedNow({ database, scaled }: Bench, rounds: number): Promise<number[]> {
  await database.clear();
  const pawl = await openPawl(database);
  try {
    const { workflowId } = await publish(pawl, chainWorkflow('one-step', 1));
    const run = async () => pawl.result((await pawl.start(workflowId, { trigger: { x: 1 } })).executionId);
    await loop(run, PEER_CALLERS, scaled(5_000));
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) rates.push(await loop(run, PEER_CALLERS, scaled(20_000)));
    return rates;
  } finally {
    await pawl.close();
  }
}

async function measure({ report, scaled, quick }: Bench, name: string, work: () => Promise<unknown>, callers: number) {
  const rates: number[] = [];
  const count = Math.max(callers, scaled(20_000));
  for (let round = 0; round < (quick ? 1 : 3); round++) rates.push(await loop(work, callers, count));
  report.rounds(name, 'pawl', 'executions/s', rates);
  return median(rates);
}

/** The number of calls per second that this many callers get done. */
async function loop(work: () => Promise<unknown>, callers: number, count: number): Promise<number> {
  let left = count;
  const startedAt = performance.now();
  const caller = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return count / ((performance.now() - startedAt) / 1000);
}

async function alone(run: () => Promise<unknown>, count: number): Promise<number[]> {
  const waits: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedAt = performance.now();
    await run();
    waits.push(performance.now() - startedAt);
  }
  return waits;
}

/** Runs the executions that were only accepted before the next measurement begins. */
async function drained(pawl: Pawl): Promise<void> {
  while ((await pawl.store.queueDepth()).length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
}
