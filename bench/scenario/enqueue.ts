// Accepting executions: how many are accepted per second when many callers ask at once, and how long one caller waits while 500
// executions run at full speed in the same process.

import { setTimeout as delay } from 'node:timers/promises';
import type { Pawl } from '../../src/main.ts';
import { percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, enqueue, publish } from '../workload.ts';

const CALLERS = 256;
const RUNNING = 500;
const PAUSE_MS = 2;

export const enqueueScenarios: readonly Scenario[] = [
  { name: 'enqueue', about: `starts/s of ${CALLERS} callers at once, with nothing running`, run: measureRate },
  { name: 'start-while-busy', about: `p99 of one start while ${RUNNING} executions run`, run: measureWait },
];

async function measureRate({ database, report, scaled, quick }: Bench): Promise<void> {
  await database.clear();
  const pawl = await openPawl(database, { runner: false });
  try {
    const { workflowId } = await publish(pawl, chainWorkflow('one-step', 1));
    await startMany(pawl, workflowId, scaled(2_000));
    const rates: number[] = [];
    const count = scaled(20_000);
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      await database.clear();
      const started = performance.now();
      await startMany(pawl, workflowId, count);
      rates.push(count / ((performance.now() - started) / 1000));
    }
    report.rounds('enqueue', 'pawl', 'executions/s', rates);
  } finally {
    await pawl.close();
  }
}

async function startMany(pawl: Pawl, workflowId: string, count: number): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left-- > 0) await pawl.start(workflowId, { trigger: { x: 1 } });
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

async function measureWait({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const door = await openPawl(database, { runner: false });
  const backlog = scaled(30_000);
  const workload = await publish(door, chainWorkflow('ten-step', 10));
  const { workflowId } = await publish(door, chainWorkflow('one-step', 1));
  report.progress(`start-while-busy: filling the queue with ${backlog} executions`);
  await enqueue(door, workload, backlog);
  await door.close();
  const pawl = await openPawl(database, { engine: { maxResident: RUNNING } });
  try {
    const waits: number[] = [];
    // With fewer than 500 executions left, the measurement no longer answers the question.
    while (waits.length < scaled(1_000) && (pawl.metrics.get('ended') ?? 0) < backlog - RUNNING) {
      const started = performance.now();
      await pawl.start(workflowId, { trigger: { x: 1 } });
      waits.push(performance.now() - started);
      await delay(PAUSE_MS);
    }
    if (waits.length === 0) return report.skipped('start-while-busy', 'the backlog is too small at this scale');
    const p99 = percentile(waits, 0.99);
    report.row('start-while-busy', 'pawl', `ms p99 of ${waits.length}`, p99);
    report.ratio('start-while-busy/p99-ms', p99, { atMost: 50 });
  } finally {
    await pawl.close();
  }
}
