// The cost of more runners: the same starts with 1, 4 and 16 runner processes on one database. Statements per start must not grow
// with the number of runners. On a machine that one runner keeps busy, more runners should cost little.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Pawl } from '../../src/main.ts';
import type { BenchDatabase } from '../database.ts';
import { openPawl } from '../native-run.ts';
import { countQueries, type QueryCounter } from '../query-counter.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';

const CLI = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const STARTS = 12_000;
const CALLERS = 200;
const TURN_MS = 1_000;
const CAUSED_BY_STARTS = /^(execution_|queue_(?!wake$))/;
/** Two for the lease and the hints, six for the pools. */
const CONNECTIONS_EACH = '8';

export const fleetScenario: Scenario = {
  name: 'fleet',
  about: 'statements per start and executions/s with 1, 4 and 16 runner processes',
  async run({ database, report, scaled }: Bench) {
    const measured = new Map<number, { perStart: number; rate: number }>();
    for (const runners of [1, 4, 16]) {
      await database.clear();
      report.progress(`fleet: ${runners} runners`);
      const result = await measure(database, runners, scaled(STARTS));
      measured.set(runners, result);
      report.row(`fleet-${runners}`, 'pawl', 'statements/start', result.perStart);
      report.row(`fleet-${runners}`, 'pawl', 'executions/s', result.rate);
    }
    const [one, , many] = [...measured.values()];
    report.ratio('fleet/statements-16-to-1', many!.perStart / one!.perStart, { atMost: 1.25 });
    report.ratio('fleet/rate-16-to-1', many!.rate / one!.rate, { atLeast: 0.9 });
  },
};

async function measure(database: BenchDatabase, runners: number, starts: number) {
  const counter = await countQueries(database.url);
  const pawl = await openPawl(database, { runner: false });
  const processes: ChildProcess[] = [];
  try {
    const { workflowId } = await publish(pawl, chainWorkflow('one-step', 1));
    for (let n = 0; n < runners; n++) processes.push(await startRunner(counter.url));
    const warmUp = await warmUpAll(pawl, workflowId, runners);
    await ended(database, warmUp);
    await delay(500);
    const before = statements(counter);
    const startedAt = performance.now();
    await startAll(pawl, workflowId, starts);
    await ended(database, warmUp + starts);
    const seconds = (performance.now() - startedAt) / 1_000;
    return { perStart: (statements(counter) - before) / starts, rate: starts / seconds };
  } finally {
    for (const child of processes) child.kill('SIGKILL');
    await pawl.close();
    await counter.close();
  }
}

/**
 * Runners take turns of a second, so this runs until each has had one. Meanwhile statements are prepared and the code is
 * compiled.
 */
async function warmUpAll(pawl: Pawl, workflowId: string, runners: number): Promise<number> {
  const until = performance.now() + (runners + 1) * TURN_MS;
  let started = 0;
  const call = async () => {
    while (performance.now() < until) {
      await pawl.start(workflowId, { trigger: { x: 1 } });
      started++;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return started;
}

async function startAll(pawl: Pawl, workflowId: string, count: number): Promise<void> {
  let left = count;
  const call = async () => {
    while (left-- > 0) await pawl.start(workflowId, { trigger: { x: 1 } });
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

async function ended(database: BenchDatabase, count: number): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ count: number }>('select count(*)::int as count from execution_outcomes');
    if (row!.count >= count) return;
    await delay(5);
  }
}

/**
 * The statements that executions cause. The services of a process and its poll run now and then, whatever is started: see
 * `idle`.
 */
const statements = (counter: QueryCounter): number =>
  [...counter.byName].reduce((sum, [name, times]) => sum + (CAUSED_BY_STARTS.test(name) ? times : 0), 0);

async function startRunner(url: string): Promise<ChildProcess> {
  const env = { ...process.env, DATABASE_URL: url, PAWL_DATABASE_MAX_CONNECTIONS: CONNECTIONS_EACH };
  const child = spawn(process.execPath, [CLI, 'runner'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  while (!said.includes('The runner is ready')) {
    const [text] = (await once(child.stderr!, 'data')) as [Buffer];
    said += text;
  }
  return child;
}
