// Uses of the engine that once had a performance cliff, each compared with plain one-step executions in the same process. Every
// row takes less than a minute, and a row below its target fails the run.

import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../src/core/json/json.ts';
import type { Pawl, PawlOptions } from '../../src/main.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';
import {
  callbacks,
  eventTriggers,
  perSecond,
  publishing,
  quota,
  retention,
  schedules,
  triggerSchema,
} from './cliffs-door.ts';

interface Row {
  readonly name: string;
  readonly options?: PawlOptions;
  run(bench: Bench, pawl: Pawl, plain: number): Promise<void>;
}

const ROWS: readonly Row[] = [
  { name: 'retry-storm', run: retryStorm },
  { name: 'delays', run: delays },
  { name: 'one-parent', run: (bench, pawl, plain) => parents(bench, pawl, plain, { count: 1, children: 900 }, 0.5) },
  { name: 'eight-parents', run: (bench, pawl, plain) => parents(bench, pawl, plain, { count: 8, children: 900 }, 0.6) },
  {
    name: 'many-parents',
    run: (bench, pawl, plain) => parents(bench, pawl, plain, { count: 2_000, children: 1 }, 0.5),
  },
  { name: 'sleeps', run: sleeps },
  { name: 'callbacks', run: callbacks },
  { name: 'quota', run: quota },
  { name: 'many-workflows', run: (...of) => manyWorkflows(...of, 1_100, 0.7) },
  { name: 'very-many-workflows', run: (...of) => manyWorkflows(...of, 10_000, 0.5) },
  { name: 'many-tenants', run: (...of) => manyTenants(...of, 1_000, 0.8) },
  { name: 'very-many-tenants', run: (...of) => manyTenants(...of, 10_000, 0.5) },
  { name: 'trigger-schema', run: triggerSchema },
  { name: 'publishing', run: publishing },
  { name: 'event-triggers', run: eventTriggers },
  { name: 'retention', run: retention, options: { engine: { retentionMs: 1 } } },
  // This row is the last one, because its schedules go on firing.
  { name: 'schedules', run: schedules },
];

export const cliffs: Scenario = {
  name: 'cliffs',
  about: `what may not fall far below one-step executions: ${ROWS.map(({ name }) => name).join(', ')}`,
  async run(bench) {
    for (const { name, run, options } of ROWS) {
      if (bench.rows.length > 0 && !bench.rows.includes(name)) continue;
      await bench.database.clear();
      const pawl = await openPawl(bench.database, options);
      try {
        const { workflowId } = await publish(pawl, chainWorkflow('one-step', 1));
        const oneStep = () => pawl.start(workflowId, { trigger: { x: 1 } });
        await perSecond(pawl, bench.scaled(5_000), oneStep);
        const plain = await perSecond(pawl, bench.scaled(20_000), oneStep);
        bench.report.row(`cliff-${name}`, 'one-step', 'executions/s', plain);
        await run(bench, pawl, plain);
      } finally {
        await pawl.close();
      }
    }
  },
};

/** How long does a one-step execution of another tenant take while a downstream fails for thousands? */
async function retryStorm({ report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const fails = { id: 'no', actionType: 'core.fail', parameters: { retryable: true } };
  const storm = await publish(pawl, { id: 'storm', displayName: 'storm', startNode: 'no', nodes: [fails] });
  const starts = Array.from({ length: scaled(5_000) }, () => pawl.start(storm.workflowId));
  await Promise.all(starts);
  const waits: number[] = [];
  for (let n = 0; n < 30; n++) {
    const startedAt = performance.now();
    await pawl.result((await pawl.start('one-step', { trigger: { x: 1 } })).executionId);
    waits.push(performance.now() - startedAt);
    await delay(100);
  }
  report.row('cliff-retry-storm', 'the others', 'ms, the slowest', Math.max(...waits));
  report.required('cliff-retry-storm/others-ms', Math.max(...waits), { atMost: 250 });
}

/** A delay just below parkAfterMs must not be slower than one just above it. */
async function delays({ report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const rates: number[] = [];
  for (const durationMs of [1_900, 2_100]) {
    const nap = { id: 'nap', actionType: 'core.delay', parameters: { durationMs } };
    const id = `nap-${durationMs}`;
    const { workflowId } = await publish(pawl, { id, displayName: id, startNode: 'nap', nodes: [nap] });
    rates.push(await perSecond(pawl, scaled(5_000), () => pawl.start(workflowId)));
    report.row('cliff-delays', `${durationMs} ms`, 'executions/s', rates.at(-1)!);
  }
  report.required('cliff-delays/near-to-far', rates[0]! / rates[1]!, { atLeast: 0.8 });
}

async function parents(
  { report, scaled }: Bench,
  pawl: Pawl,
  plain: number,
  { count, children }: { readonly count: number; readonly children: number },
  reach: number,
): Promise<void> {
  const name = count === 1 ? 'one-parent' : children === 1 ? 'many-parents' : 'eight-parents';
  const calls = Array.from({ length: children }, (_, n) => ({
    id: `c${n}`,
    nodeType: 'subworkflow',
    workflowId: 'child',
  }));
  const child = { id: 'child', displayName: 'child', startNode: 'a', nodes: [{ id: 'a', actionType: 'core.echo' }] };
  await publish(pawl, child);
  const first = { id: 'first', actionType: 'core.echo', edges: calls.map(({ id }) => ({ targetNode: id })) };
  const definition = { id: name, displayName: name, startNode: 'first', nodes: [first, ...calls] } as unknown as Json;
  const { workflowId } = await publish(pawl, definition);
  const starts = count < 10 ? count : scaled(count);
  const rate = (await perSecond(pawl, starts, () => pawl.start(workflowId))) * (children + 1);
  report.row(`cliff-${name}`, 'parent and children', 'executions/s', rate);
  report.required(`cliff-${name}/one-step`, rate / plain, { atLeast: reach });
}

/** How late sleeps end. */
async function sleeps({ report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const durationMs = 3_000;
  const nap = { id: 'nap', actionType: 'core.delay', parameters: { durationMs } };
  const { workflowId } = await publish(pawl, { id: 'sleep', displayName: 'sleep', startNode: 'nap', nodes: [nap] });
  const late: number[] = [];
  const sleeper = async () => {
    const startedAt = performance.now();
    await pawl.result((await pawl.start(workflowId)).executionId);
    late.push(performance.now() - startedAt - durationMs);
  };
  await Promise.all(Array.from({ length: scaled(200) }, async (_, n) => delay(n * 10).then(sleeper)));
  report.row('cliff-sleeps', 'late', 'ms p50', median(late));
  report.required('cliff-sleeps/late-p99-ms', percentile(late, 0.99), { atMost: 100 });
}

async function manyWorkflows(
  { report, scaled }: Bench,
  pawl: Pawl,
  plain: number,
  count: number,
  reach: number,
): Promise<void> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await publish(pawl, chainWorkflow(`w-${n}`, 1))).workflowId);
  let next = 0;
  const start = () => pawl.start(ids[next++ % ids.length]!, { trigger: { x: 1 } });
  await perSecond(pawl, ids.length, start);
  const rate = await perSecond(pawl, scaled(20_000), start);
  report.row('cliff-many-workflows', `${count} in turn`, 'executions/s', rate);
  report.required(`cliff-workflows-${count}/one-step`, rate / plain, { atLeast: reach });
}

async function manyTenants(
  { report, scaled }: Bench,
  pawl: Pawl,
  plain: number,
  count: number,
  reach: number,
): Promise<void> {
  const tenants = Array.from({ length: count }, (_, n) => `tenant-${n}`);
  for (const tenantId of tenants) await pawl.publish(chainWorkflow('one-step', 1), { tenantId });
  let next = 0;
  const start = () => pawl.start('one-step', { tenantId: tenants[next++ % tenants.length]!, trigger: { x: 1 } });
  await perSecond(pawl, tenants.length, start);
  const rate = await perSecond(pawl, scaled(20_000), start);
  report.row('cliff-many-tenants', `${count} in turn`, 'executions/s', rate);
  report.required(`cliff-tenants-${count}/one-step`, rate / plain, { atLeast: reach });
}
