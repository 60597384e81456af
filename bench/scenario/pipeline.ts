// Pipelines of HTTP calls to a server in a separate process, compared with a bare loop that sends the same requests; and
// callbacks while very many runs wait for theirs. When started as a child process, this file is that server.

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import type { Json } from '../../src/core/json/json.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import type { Pawl } from '../../src/main.ts';
import { median, percentile } from '../measurement.ts';
import { ended, openPawl } from '../native-run.ts';
import { type Bench, type Scenario, warmUpMs } from '../scenario.ts';
import { enqueue, publish } from '../workload.ts';

const RUNS = 1_000;
const STEPS = 5;
/** A round takes half a second, and one may fall into a bad moment of the machine. */
const ROUNDS = 15;
/**
 * The number of calls in flight at once, on both sides: the number at which the bare loop is at its best, because it opens
 * few connections; and all of them, which is the default of a bare loop of undici.
 */
const DEPTHS = [
  { name: 'pipelines', atOnce: 256 },
  { name: 'pipelines-1000', atOnce: RUNS },
];
const WAITING = 100_000;
const CALLBACKS = 2_000;
/** The first callbacks open connections and prepare statements. */
const FIRST_CALLBACKS = 100;
const CALLERS = 4;
const PAUSE_MS = 2;
const STUCK_AFTER_MS = 300_000;
const TRIGGER: Json = { body: { order: 1 }, headers: {} };
const OPEN_TO_LOOPBACK = { http: { allowLoopback: true } };

export const pipelineScenarios: readonly Scenario[] = [
  { name: 'pipelines', about: `${RUNS} pipelines at once, ${STEPS} HTTP calls in a row each`, run: measureDepths },
  { name: 'callbacks', about: `a callback while ${WAITING} runs wait for theirs`, run: measureCallbacks },
];

// ── Calls ───────────────────────────────────────────────────────────────────────────────────────────────────────────

async function measureDepths(bench: Bench): Promise<void> {
  const server = await startAnswering();
  try {
    for (const { name, atOnce } of DEPTHS) await measureCalls(bench, server.url, name, atOnce);
  } finally {
    server.stop();
  }
}

/**
 * Both send the same requests, identical but for the ids, over the same number of connections, from this process. They take
 * turns, and the first turns of each are not counted, because they compile the code.
 */
async function measureCalls(bench: Bench, url: string, name: string, atOnce: number): Promise<void> {
  const { database, report, scaled, quick } = bench;
  const runs = scaled(RUNS);
  const bare: Cost[] = [];
  const ours: Cost[] = [];
  const turn = async () => {
    const cost = await callBare(url, runs, atOnce);
    await database.clear();
    return [cost, await runPipelines(database, url, runs, atOnce)] as const;
  };
  report.progress(`${name}: warming up`);
  for (let ranMs = 0; ranMs < warmUpMs(bench); ) for (const { seconds } of await turn()) ranMs += seconds * 500;
  for (let round = 0; round < (quick ? 2 : ROUNDS); round++) {
    const [cost, ourCost] = await turn();
    bare.push(cost);
    ours.push(ourCost);
  }
  const middle = (costs: readonly Cost[], what: keyof Cost) => median(costs.map((cost) => cost[what]));
  const perSecond = (costs: readonly Cost[]) => (runs * STEPS) / middle(costs, 'seconds');
  for (const [system, costs] of [['bare undici', bare] as const, ['pawl', ours] as const]) {
    report.row(name, system, `calls/s, ${atOnce} at once`, perSecond(costs));
    report.row(
      `${name}-cpu`,
      system,
      'µs of CPU per call, in the calling process',
      middle(costs, 'cpuUs') / (runs * STEPS),
    );
  }
  report.ratio(`${name}/bare`, perSecond(ours) / perSecond(bare), { atLeast: 0.6 });
}

interface Cost {
  readonly seconds: number;
  readonly cpuUs: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds, cpuUs: user + system };
}

/** From the first claim to the last end. */
async function runPipelines(database: Bench['database'], url: string, runs: number, atOnce: number): Promise<Cost> {
  const door = await openPawl(database, { runner: false });
  await enqueue(door, await publish(door, calls(url)), runs, TRIGGER);
  await door.close();
  const pawl = await openPawl(database, { ...OPEN_TO_LOOPBACK, engine: { maxParallelActions: atOnce } });
  try {
    return await costOf(() => ended(pawl, runs));
  } finally {
    await pawl.close();
  }
}

function calls(url: string): Json {
  const tasks: Record<string, Json> = {};
  for (let index = 0; index < STEPS; index++) {
    const needs = index === 0 ? [] : [`call-${index - 1}`];
    tasks[`call-${index}`] = { url, method: 'POST', body: { order: '{{trigger.body.order}}' }, needs };
  }
  return { name: 'calls', tasks };
}

/** The same requests by hand: as many loops at once as there are runs. */
async function callBare(url: string, runs: number, connections: number): Promise<Cost> {
  const dispatcher = new Agent({ connections });
  const run = async () => {
    const id = randomUUID();
    for (let step = 0; step < STEPS; step++) {
      const headers = {
        'accept-encoding': 'gzip, br',
        'user-agent': 'pawl',
        'idempotency-key': `${id}:call-${step}`,
        'x-correlation-id': id,
        'content-type': 'application/json',
      };
      const answer = await request(url, { method: 'POST', headers, body: '{"order":1}', dispatcher });
      await answer.body.json();
    }
  };
  const cost = await costOf(() => Promise.all(Array.from({ length: runs }, run)));
  await dispatcher.close();
  return cost;
}

// ── Callbacks ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function measureCallbacks({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const waiting = scaled(WAITING);
  const pawl = await openPawl(database, { serve: true, server: { port: 0 }, auth: { allowLooseAuth: true } });
  try {
    const workload = await publish(pawl, { name: 'waits', tasks: { paid: { wait_for_webhook: {} } } });
    report.progress(`callbacks: letting ${waiting} runs wait`);
    await enqueue(pawl, workload, waiting, TRIGGER);
    await untilParked(pawl, waiting);
    const rows = await database.query<{ id: string }>(
      'select execution_id as id from execution_queue where state = 2 order by random() limit $1',
      [Math.min(FIRST_CALLBACKS + CALLBACKS, Math.floor(waiting / 2))],
    );
    const key = await pawl.store.secretGet({ name: 'callback' });
    const urls = rows.map(
      ({ id: executionId }) => `${pawl.url}/wh/${callbackToken(key, { executionId, nodeId: 'paid' })}`,
    );
    await callAll(urls.slice(0, FIRST_CALLBACKS));
    const waits = await callAll(urls.slice(FIRST_CALLBACKS));
    const p99 = percentile(waits, 0.99);
    report.row('callbacks', 'pawl', `ms p50 of ${waits.length}`, percentile(waits, 0.5));
    report.row('callbacks-p99', 'pawl', `ms p99 of ${waits.length}`, p99);
    report.ratio('callbacks/p99-ms', p99, { atMost: 50 });
  } finally {
    await pawl.close();
  }
}

async function callAll(urls: readonly string[]): Promise<number[]> {
  const waits: number[] = [];
  const left = [...urls];
  const caller = async () => {
    for (let url = left.pop(); url !== undefined; url = left.pop()) {
      const started = performance.now();
      const { statusCode, body } = await request(url, { method: 'POST', body: '{"status":"paid"}' });
      await body.dump();
      if (statusCode !== 200) throw new Error(`a callback was answered ${statusCode}`);
      waits.push(performance.now() - started);
      await delay(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return waits;
}

async function untilParked(pawl: Pawl, count: number): Promise<void> {
  const giveUpAt = performance.now() + STUCK_AFTER_MS;
  while ((pawl.metrics.get('parked') ?? 0) < count) {
    if (performance.now() > giveUpAt) throw new Error(`only ${pawl.metrics.get('parked') ?? 0} of ${count} wait`);
    await delay(20);
  }
}

// ── The server ──────────────────────────────────────────────────────────────────────────────────────────────────────

const SELF = fileURLToPath(import.meta.url);
if (process.send !== undefined && process.argv[1] === SELF) await answer();

async function startAnswering(): Promise<{ url: string; stop(): void }> {
  const child: ChildProcess = fork(SELF);
  const [url] = (await once(child, 'message')) as [string];
  return { url, stop: () => void child.kill() };
}

async function answer(): Promise<void> {
  process.on('disconnect', () => process.exit());
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}
