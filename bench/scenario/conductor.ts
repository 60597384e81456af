// Our workflows on Conductor compared with the same lanes with workers that answer at once, and with the other engines, in one
// run. Also how often idle workers poll.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { conductor } from '../../scripts/server/conductor.ts';
import type { RunningServer } from '../../scripts/server/server.ts';
import { temporal } from '../../scripts/server/temporal.ts';
import { compileDefinition } from '../../src/core/definition/compile.ts';
import type { Json } from '../../src/core/json/json.ts';
import { ConductorClient, type PolledTask } from '../../src/driver/conductor/conductor-client.ts';
import { laneDefinition } from '../../src/driver/conductor/lane-definition.ts';
import type { Driver } from '../../src/protocol/driver.ts';
import { lastingPorts } from '../../test/support/lasting-port.ts';
import { inRounds, oneByOne, type RunOne, runOf, sideBySide } from '../engine-load.ts';
import { median } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, fanWorkflow, publish } from '../workload.ts';

const DIAMONDS = 5;
const CHAINS = 2;
const MANY = 20;
const ROUNDS = 3;
const IDLE_MS = 15_000;
const POLL_MS = 20;

export const conductorScenario: Scenario = {
  name: 'conductor',
  about: 'a diamond and ten steps on Conductor, Temporal and our own engine, and the requests of idle workers',
  async run(bench: Bench) {
    const program = conductor.find();
    if (program === null) return bench.report.skipped('conductor', 'there is no Conductor server; npm run servers');
    const [port, temporalPort] = (await lastingPorts(2)) as [number, number];
    const data = mkdtempSync(join(tmpdir(), 'pawl-bench-conductor-'));
    const running: RunningServer[] = [];
    try {
      running.push(await conductor.start!(program, { port, data }));
      const cli = temporal.find();
      if (cli !== null) running.push(await temporal.start!(cli, { port: temporalPort }));
      await beside(bench, `http://127.0.0.1:${port}`, cli === null ? null : `127.0.0.1:${temporalPort}`);
      await idle(bench, `http://127.0.0.1:${port}`);
    } finally {
      for (const server of running) {
        server.process.kill();
        await server.endOthers?.();
      }
      rmSync(data, { recursive: true, force: true });
    }
  },
};

async function beside({ database, report, scaled }: Bench, url: string, address: string | null): Promise<void> {
  await database.clear();
  const bare = startBare(url, fanWorkflow('diamond', 2));
  const pawl = await openPawl(database, { conductor: { url }, ...(address === null ? {} : { temporal: { address } }) });
  try {
    const diamond = await publish(pawl, fanWorkflow('diamond', 2));
    const chain = await publish(pawl, chainWorkflow('ten-step', 10));
    const drivers: Driver[] = ['native', ...(address === null ? [] : ['temporal' as const]), 'conductor'];
    const on = ({ workflowId }: { workflowId: string }): Record<string, RunOne> =>
      Object.fromEntries(drivers.map((driver) => [driver, runOf(pawl, workflowId, driver)]));
    const diamonds = { ...on(diamond), bare: bare.run };
    for (const run of Object.values(diamonds)) await oneByOne(run, 2);
    const times = await inRounds(diamonds, ROUNDS, (run) => oneByOne(run, scaled(DIAMONDS)));
    for (const [system, each] of Object.entries(times)) report.row('diamond', system, 'ms p50', median(each));
    report.ratio('conductor/diamond-to-bare', median(times.conductor!) / median(times.bare!), { atMost: 1.3 });
    const rates = await inRounds(diamonds, 1, async (run) => [await sideBySide(run, scaled(MANY), scaled(MANY))]);
    for (const [system, each] of Object.entries(rates)) report.row('diamonds-many', system, 'runs/s', median(each));
    const chains = await inRounds(on(chain), 1, (run) => oneByOne(run, scaled(CHAINS)));
    for (const [system, each] of Object.entries(chains)) report.row('ten-steps', system, 'ms p50', median(each));
  } finally {
    await pawl.close();
    await bare.stop();
  }
}

/** The same lanes under other names, and workers without a database: every gate says "run", and every step is done at once. */
function startBare(url: string, definition: Json) {
  const compiled = compileDefinition(definition);
  if (!compiled.ok) throw new Error('the diamond is not valid');
  const lanes = JSON.parse(JSON.stringify(laneDefinition(compiled.plan)).replaceAll('"pawl.', '"bare.'));
  const client = new ConductorClient(url);
  const stopped = new AbortController();
  const answer = ({ inputData }: PolledTask) => {
    if (inputData.kind === 'gate') return { taskType: inputData.node === null ? 'bare.noop' : 'bare.step' };
    return inputData.kind === 'done' ? { again: false } : {};
  };
  const work = async (taskType: string): Promise<void> => {
    while (!stopped.signal.aborted) {
      const tasks = await client.poll(taskType, 50, 'bare');
      await Promise.all(
        tasks.map((task) => {
          const { taskId, workflowInstanceId } = task;
          return client.answer({ taskId, workflowInstanceId, status: 'COMPLETED', outputData: answer(task) });
        }),
      );
      if (tasks.length === 0) await delay(POLL_MS);
    }
  };
  const working = ['bare.turn', 'bare.step', 'bare.noop'].map(work);
  let count = 0;
  return {
    async run() {
      const workflowId = await client.start(lanes, `bare-${count++}`, { executionId: 'bare', epoch: 1 });
      while ((await client.get(workflowId))?.status === 'RUNNING') await delay(POLL_MS);
    },
    async stop() {
      stopped.abort();
      await Promise.all(working);
    },
  };
}

/** Requests per second of a process that has become idle. */
async function idle({ database, report, scaled }: Bench, url: string): Promise<void> {
  await database.clear();
  const target = new URL(url);
  let requests = 0;
  const proxy = createServer((request, response) => {
    requests++;
    const { method, url: path, headers } = request;
    const passed = forward({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const through = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const pawl = await openPawl(database, { conductor: { url: through } });
  try {
    const { workflowId } = await publish(pawl, fanWorkflow('diamond', 2));
    await runOf(pawl, workflowId, 'conductor')();
    await delay(scaled(5_000));
    requests = 0;
    await delay(scaled(IDLE_MS));
    const rate = requests / (scaled(IDLE_MS) / 1_000);
    report.row('idle', 'conductor', 'requests/s', rate);
    report.ratio('conductor/idle-requests-per-s', rate, { atMost: 5 });
  } finally {
    await pawl.close();
    proxy.closeAllConnections();
    proxy.close();
  }
}
