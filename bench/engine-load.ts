// The same load on each engine: one start after the other for latency, parallel callers for throughput.

import type { Pawl } from '../src/main.ts';
import type { Driver } from '../src/protocol/driver.ts';

/** Starts one run and waits for its result. */
export type RunOne = () => Promise<void>;

export function runOf(pawl: Pawl, workflowId: string, driver: Driver): RunOne {
  return async () => {
    const { executionId } = await pawl.start(workflowId, { driver, trigger: { x: 1 } });
    const { status, error } = await pawl.result(executionId);
    if (status !== 'Succeeded') throw new Error(`an execution on ${driver} is ${status}: ${error?.message}`);
  };
}

/** The milliseconds of each run, one after the other. */
export async function oneByOne(run: RunOne, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done++) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** Runs a second. */
export async function sideBySide(run: RunOne, count: number, callers: number): Promise<number> {
  let left = count;
  const call = async () => {
    while (left-- > 0) await run();
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return (count / (performance.now() - startedAt)) * 1_000;
}

/** Runs each in turn, several times: a machine may be half as fast a minute later. */
export async function inRounds(
  runs: Readonly<Record<string, RunOne>>,
  rounds: number,
  measure: (run: RunOne) => Promise<number[]>,
): Promise<Record<string, number[]>> {
  const measured: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [system, run] of Object.entries(runs)) {
      measured[system] = [...(measured[system] ?? []), ...(await measure(run))];
    }
  }
  return measured;
}
