// One execution at a time: how long ten steps take when nothing else runs, and a fan-out over 998 nodes that joins again.

import type { Pawl } from '../../src/main.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, fanWorkflow, publish } from '../workload.ts';

const WARM_UP = 50;

export const latencyScenarios: readonly Scenario[] = [
  {
    name: 'ten-step-latency',
    about: 'from start to result of ten steps, one execution at a time',
    run: (bench) =>
      tenStepTimes(bench, 500).then((measured) => {
        bench.report.row('ten-step-latency', 'pawl', 'ms p50', median(measured));
        bench.report.row('ten-step-latency-p99', 'pawl', 'ms p99', percentile(measured, 0.99));
      }),
  },
  {
    name: 'fan-1000',
    about: 'a fan-out and fan-in over 1,000 nodes, from start to result',
    run: (bench) =>
      withPawl(bench, async (pawl) => {
        const { workflowId } = await publish(pawl, fanWorkflow('fan-1000', 998));
        await times(pawl, workflowId, bench.scaled(5));
        const measured = median(await times(pawl, workflowId, bench.scaled(15)));
        bench.report.row('fan-1000', 'pawl', 'ms', measured);
        bench.report.ratio('fan-1000/ms', measured, { atMost: 1000 });
      }),
  },
];

/** Milliseconds from start to result of ten steps, one execution at a time. */
export function tenStepTimes(bench: Bench, count: number): Promise<number[]> {
  return withPawl(bench, async (pawl) => {
    const { workflowId } = await publish(pawl, chainWorkflow('ten-step', 10));
    await times(pawl, workflowId, bench.scaled(WARM_UP));
    return times(pawl, workflowId, bench.scaled(count));
  });
}

async function withPawl<Result>({ database, report }: Bench, work: (pawl: Pawl) => Promise<Result>): Promise<Result> {
  await database.clear();
  const pawl = await openPawl(database, { onWarning: (event) => report.progress(`warning: ${event}`) });
  try {
    return await work(pawl);
  } finally {
    await pawl.close();
  }
}

/** The milliseconds of each execution. */
async function times(pawl: Pawl, workflowId: string, count: number): Promise<number[]> {
  const measured: number[] = [];
  for (let run = 0; run < count; run++) {
    const started = performance.now();
    const { executionId } = await pawl.start(workflowId, { trigger: { x: 1 } });
    const { status, error } = await pawl.result(executionId);
    measured.push(performance.now() - started);
    if (status !== 'Succeeded') throw new Error(`the execution is ${status}: ${error?.message}`);
  }
  return measured;
}
