// Our workflows on Temporal, compared with a plain Temporal workflow that runs the same activities, and with our own engine: on
// one server, in one run. Then the same work with 1, 2 and 4 worker processes, and where the CPU time goes.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { temporal } from '../../scripts/server/temporal.ts';
import type { Json } from '../../src/core/json/json.ts';
import type { Pawl } from '../../src/main.ts';
import { lastingPorts } from '../../test/support/lasting-port.ts';
import { inRounds, oneByOne, type RunOne, runOf, sideBySide } from '../engine-load.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import { canReadCpu, processCpuUs } from '../process-cpu.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';

const CLI = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const STEPS = 10;
const ALONE = 15;
const MANY = 60;
const CALLERS = 30;
const ROUNDS = 3;
/** Hand-over: this many one-step starts, this far apart, which is less than the server can do. */
const STARTS = 100;
const START_EVERY_MS = 100;
/** Slow steps, on workers with this many places each. */
const SLOW_MS = 400;
const SLOW_STEPS = 3;
const SLOW_RUNS = 32;
const PLACES = 4;
const QUEUE = 'bare';

export const temporalScenario: Scenario = {
  name: 'temporal',
  about: 'ten steps on Temporal, beside a plain Temporal workflow and our own engine',
  async run(bench: Bench) {
    const program = temporal.find();
    if (program === null) return bench.report.skipped('temporal', 'there is no Temporal server; npm run servers');
    const [port] = await lastingPorts(1);
    const running = await temporal.start!(program, { port: port! });
    try {
      await beside(bench, running.address);
      if (canReadCpu()) await scaleOut(bench, running.address, running.process.pid!);
    } finally {
      running.process.kill();
    }
  },
};

async function beside(bench: Bench, address: string): Promise<void> {
  const { database, report, scaled } = bench;
  await database.clear();
  const plain = await startPlain(address);
  const pawl = await openPawl(database, { temporal: { address } });
  try {
    const { workflowId } = await publish(pawl, chainWorkflow('ten-step', STEPS));
    const runs: Record<string, RunOne> = {
      plain: plain.run,
      temporal: runOf(pawl, workflowId, 'temporal'),
      native: runOf(pawl, workflowId, 'native'),
    };
    for (const run of Object.values(runs)) await sideBySide(run, scaled(CALLERS), CALLERS);
    const times = await inRounds(runs, ROUNDS, (run) => oneByOne(run, scaled(ALONE)));
    for (const system of Object.keys(runs)) report.row('ten-steps-alone', system, 'ms p50', median(times[system]!));
    const rates = await inRounds(runs, ROUNDS, async (run) => [(await sideBySide(run, scaled(MANY), CALLERS)) * STEPS]);
    for (const system of Object.keys(runs)) report.rounds('ten-steps-many', system, 'steps/s', rates[system]!);
    report.ratio('temporal/ten-steps-to-plain', median(times.temporal!) / median(times.plain!), { atMost: 1.5 });
    report.ratio('temporal/rate-to-plain', median(rates.temporal!) / median(rates.plain!), { atLeast: 0.6 });
    await measureHistory(bench, plain.client, pawl, workflowId);
    await measureHandOver(bench, pawl);
  } finally {
    await pawl.close();
    await plain.stop();
  }
}

async function startPlain(address: string) {
  const { NativeConnection, Worker, Runtime, DefaultLogger } = await import('@temporalio/worker');
  const sdk = await import('@temporalio/client');
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const [workers, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    sdk.Connection.connect({ address }),
  ]);
  const worker = await Worker.create({
    connection: workers,
    taskQueue: QUEUE,
    workflowsPath: fileURLToPath(new URL('../temporal-bare.ts', import.meta.url)),
    activities: { echo: async (x: number) => x },
  });
  const running = worker.run();
  const client = new sdk.Client({ connection });
  let count = 0;
  return {
    client,
    async run() {
      const workflowId = `bare-${count++}`;
      await client.workflow.execute('bare', { taskQueue: QUEUE, workflowId, args: [STEPS] });
    },
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
      await workers.close();
    },
  };
}

async function measureHistory({ report }: Bench, client: Client, pawl: Pawl, workflowId: string): Promise<void> {
  const { executionId } = await pawl.start(workflowId, { driver: 'temporal', trigger: { x: 1 } });
  await pawl.result(executionId);
  const events = async (namespace: string, id: string) => {
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId: id },
      waitNewEvent: true,
      historyEventFilterType: 1,
    });
    return Number(history!.events!.at(-1)!.eventId) / STEPS;
  };
  const ours = await events('default-default', `pawl/${executionId}/1`);
  report.row('history', 'plain', 'events/step', await events('default', 'bare-0'));
  report.row('history', 'temporal', 'events/step', ours);
  report.ratio('temporal/history-events-per-step', ours, { atMost: 8 });
}

/** From the acceptance to the first turn in Temporal, while other executions start too. */
async function measureHandOver({ database, report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const { workflowId } = await publish(pawl, chainWorkflow('one-step', 1));
  const ids: string[] = [];
  for (let n = 0; n < scaled(STARTS); n++) {
    const next = new Promise((resolve) => setTimeout(resolve, START_EVERY_MS));
    ids.push((await pawl.start(workflowId, { driver: 'temporal', trigger: { x: 1 } })).executionId);
    await next;
  }
  await Promise.all(ids.map((id) => pawl.result(id)));
  const rows = await database.query<{ ms: number }>(
    `select extract(epoch from o.started_at - e.created_at)::float8 * 1000 as ms
     from execution_outcomes o join workflow_executions e on e.id = o.execution_id where e.id = any($1::uuid[])`,
    [ids],
  );
  const times = rows.map(({ ms }) => ms);
  report.row('hand-over', 'temporal', 'ms p50', median(times));
  report.row('hand-over', 'temporal', 'ms p99', percentile(times, 0.99));
  report.ratio('temporal/hand-over-p99-ms', percentile(times, 0.99), { atMost: 250 });
}

/** The same work with more worker processes; this process only starts executions. */
async function scaleOut(bench: Bench, address: string, pid: number): Promise<void> {
  const { report } = bench;
  for (const count of [1, 2, 4]) {
    await withWorkers(bench, address, { count, env: {} }, async (pawl, workers) => {
      const { workflowId } = await publish(pawl, chainWorkflow('ten-step', STEPS));
      await busyBy(bench, { temporal: [pid], workers, postgres: [bench.server.pid ?? 0] }, `workers-${count}`, () =>
        manySteps(bench, runOf(pawl, workflowId, 'temporal')),
      );
    });
  }
  // Workers with few places, and slow steps: twice the workers have twice the places.
  const slow = createServer((_request, response) => setTimeout(() => response.end('{}'), SLOW_MS)).listen(
    0,
    '127.0.0.1',
  );
  await once(slow, 'listening');
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const env = { PAWL_ENGINE_MAX_PARALLEL_ACTIONS: String(PLACES), PAWL_HTTP_ALLOW_LOOPBACK: 'true' };
  for (const count of [1, 2, 4]) {
    await withWorkers(bench, address, { count, env }, async (pawl) => {
      const { workflowId } = await publish(pawl, slowWorkflow(url));
      const run = runOf(pawl, workflowId, 'temporal');
      await sideBySide(run, count, count);
      const rate = (await sideBySide(run, bench.scaled(SLOW_RUNS), SLOW_RUNS)) * SLOW_STEPS;
      report.row(`slow-steps-workers-${count}`, 'temporal', 'steps/s', rate);
    });
  }
  slow.close();
}

const slowWorkflow = (url: string): Json => ({
  id: 'slow',
  displayName: 'slow',
  startNode: 'n0',
  nodes: Array.from({ length: SLOW_STEPS }, (_, index) => ({
    id: `n${index}`,
    actionType: 'http.request',
    parameters: { url },
    edges: index === SLOW_STEPS - 1 ? [] : [{ targetNode: `n${index + 1}` }],
  })),
});

async function manySteps({ scaled }: Bench, run: RunOne): Promise<number> {
  return (await sideBySide(run, scaled(MANY), CALLERS)) * STEPS;
}

/** How many cores each program kept busy meanwhile. */
async function busyBy(
  { report }: Bench,
  programs: Readonly<Record<string, readonly number[]>>,
  scenario: string,
  work: () => Promise<number>,
): Promise<void> {
  const used = () => Object.values(programs).map((pids) => pids.reduce((sum, one) => sum + processCpuUs(one), 0));
  const [before, ownBefore, startedAt] = [used(), process.cpuUsage(), performance.now()];
  report.row(scenario, 'temporal', 'steps/s', await work());
  const elapsedUs = (performance.now() - startedAt) * 1_000;
  const { user, system } = process.cpuUsage(ownBefore);
  const busy = used().map((us, index) => us - before[index]!);
  for (const [index, name] of Object.keys(programs).entries()) {
    report.row(scenario, `${name} (busy)`, 'cores', busy[index]! / elapsedUs);
  }
  report.row(scenario, 'starts (busy)', 'cores', (user + system) / elapsedUs);
}

async function withWorkers(
  { database }: Bench,
  address: string,
  { count, env }: { count: number; env: Record<string, string> },
  work: (pawl: Pawl, pids: number[]) => Promise<void>,
): Promise<void> {
  await database.clear();
  const pawl = await openPawl(database, { runner: false, temporal: { address } });
  const workers: ChildProcess[] = [];
  try {
    for (let n = 0; n < count; n++) workers.push(await startWorker(database.url, address, env));
    await work(
      pawl,
      workers.map((worker) => worker.pid!),
    );
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await pawl.close();
  }
}

async function startWorker(url: string, address: string, more: Record<string, string>): Promise<ChildProcess> {
  const own = { DATABASE_URL: url, PAWL_TEMPORAL_ADDRESS: address, PAWL_DATABASE_MAX_CONNECTIONS: '8' };
  const env = { ...process.env, ...own, ...more };
  const child = spawn(process.execPath, [CLI, 'runner'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  while (!said.includes('The runner is ready')) {
    const [text] = (await once(child.stderr!, 'data')) as [Buffer];
    said += text;
  }
  return child;
}
