// The API under load: how many executions POST /execute accepts per second, each durable before it is answered, compared with the
// floor of a bare batched insert behind Fastify; and how long the server takes to start on an existing database.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createPawl } from '../../src/main.ts';
import { startHttpFloor } from '../floor-http.ts';
import type { Load, LoadResult } from '../load-client.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish } from '../workload.ts';

const CLIENTS = 64;
const REQUESTS = 20_000;
const WARM_UP = 3_000;
const CLIENT = fileURLToPath(new URL('../load-client.ts', import.meta.url));
const BODY = JSON.stringify({ trigger: { x: 1 } });
export const SERVING = { serve: true, runner: false, server: { port: 0 }, auth: { allowLooseAuth: true } } as const;

export const httpScenarios: readonly Scenario[] = [
  { name: 'execute', about: `POST /execute of ${CLIENTS} clients, durable, beside a bare insert`, run: measureExecute },
  { name: 'server-start', about: 'seconds until a server on an existing database answers', run: measureStart },
];

async function measureExecute(bench: Bench): Promise<void> {
  const { database, report, scaled, quick } = bench;
  const rounds = quick ? 1 : 3;
  const load = { connections: CLIENTS, requests: scaled(REQUESTS), body: BODY };
  await database.clear();
  const pawl = await openPawl(database, SERVING);
  const workload = await publish(pawl, chainWorkflow('one-step', 1));
  const floor = await startHttpFloor(database, workload);
  const client = await startClient();
  try {
    const ours = { ...load, port: Number(new URL(pawl.url!).port), path: '/api/v1/workflows/one-step/execute' };
    const bare = { ...load, port: floor.port, path: '/execute' };
    for (const target of [ours, bare]) await ask(client, { ...target, requests: scaled(WARM_UP) });
    const results: { ours: LoadResult[]; bare: LoadResult[] } = { ours: [], bare: [] };
    // They take turns, so that other load on the machine affects both.
    for (let round = 0; round < rounds; round++) {
      for (const [name, target] of [['ours', ours] as const, ['bare', bare] as const]) {
        await database.clear();
        results[name].push(await ask(client, target));
      }
    }
    const rate = (all: LoadResult[]) => median(all.map(({ waits, seconds }) => waits.length / seconds));
    const p99 = (all: LoadResult[]) => median(all.map(({ waits }) => percentile(waits, 0.99)));
    report.row('execute', 'pawl', 'executions/s', rate(results.ours));
    report.row('execute', 'floor', 'executions/s', rate(results.bare));
    report.row('execute-p99', 'pawl', 'ms p99', p99(results.ours));
    report.row('execute-p99', 'floor', 'ms p99', p99(results.bare));
    report.ratio('execute/executions-per-s', rate(results.ours), { atLeast: 3_000 });
    report.ratio('execute/p99-ms', p99(results.ours), { atMost: 50 });
    report.ratio('execute/floor', rate(results.ours) / rate(results.bare), { atLeast: 0.4 });
  } finally {
    client.disconnect();
    await floor.close();
    await pawl.close();
  }
}

export async function startClient(): Promise<ChildProcess> {
  const client = fork(CLIENT, { execArgv: [] });
  await once(client, 'message');
  return client;
}

export async function ask(client: ChildProcess, load: Load): Promise<LoadResult> {
  client.send(load);
  const [answer] = (await once(client, 'message')) as [LoadResult | { error: string }];
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

const STARTS = 5;

/** Starts in this process, which has loaded the program already: this measures our own start, not Node's. */
async function measureStart({ database, report, scaled }: Bench): Promise<void> {
  await (await openPawl(database, SERVING)).close();
  const seconds: number[] = [];
  for (let start = 0; start < scaled(STARTS); start++) {
    const startedAt = performance.now();
    const pawl = await createPawl({ ...SERVING, runner: true, database: { url: database.url } });
    await fetch(`${pawl.url}/health/ready`);
    seconds.push((performance.now() - startedAt) / 1000);
    await pawl.close();
  }
  report.row('server-start', 'pawl', 's', median(seconds));
  report.ratio('server-start/s', median(seconds), { atMost: 1.5 });
}
