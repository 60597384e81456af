// Whether a late step of a long execution costs the same as an early one: the time from node to node around the 950th of 1,000 in
// a row, compared with that around the 10th.

import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { defineAction } from '../../src/main.ts';
import { median } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';

const NODES = 1_000;
const EARLY = { from: 5, to: 25 };
const LATE = { from: 940, to: 960 };

export const nodeCost: Scenario = {
  name: 'node-cost',
  about: 'time of node 950 against node 10 in a chain of 1,000',
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    let marks: number[] = [];
    const pawl = await openPawl(database, { actions: [markAction(() => marks.push(performance.now()))] });
    try {
      const { workflowId } = await publish(pawl, chainWorkflow('chain-1000', NODES, 'core.bench-mark'));
      const early: number[] = [];
      const late: number[] = [];
      const runs = scaled(20);
      for (let run = -1; run < runs; run++) {
        marks = [];
        const { executionId } = await pawl.start(workflowId, { trigger: { x: 1 } });
        const { status } = await pawl.result(executionId);
        if (status !== 'Succeeded') throw new Error(`the chain is ${status}`);
        if (run < 0) continue; // The first one warms up.
        early.push(...gaps(marks, EARLY));
        late.push(...gaps(marks, LATE));
      }
      report.row('node-cost', 'pawl: node 10', 'ms', median(early));
      report.row('node-cost', 'pawl: node 950', 'ms', median(late));
      report.ratio('node-950/node-10', median(late) / median(early), { atMost: 1.2 });
    } finally {
      await pawl.close();
    }
  },
};

const markAction = (mark: () => void) =>
  defineAction({
    type: 'core.bench-mark',
    version: '1.0.0',
    connector: 'core',
    category: 'Bench',
    params: z.object({ x: z.number() }),
    outputs: z.object({ x: z.number() }),
    run(params) {
      mark();
      return { outputs: params };
    },
  });

function gaps(marks: readonly number[], { from, to }: { from: number; to: number }): number[] {
  return Array.from({ length: to - from }, (_, index) => marks[from + index + 1]! - marks[from + index]!);
}
