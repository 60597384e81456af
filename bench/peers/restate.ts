// Restate: a separate server that journals the steps of handlers, with its default settings (durable, one node). Measured in both
// ways that it offers, and the better one counts: calls with many in flight, and messages that were all sent before they are due.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import {
  concurrently,
  countdown,
  oneByOne,
  STEPS,
  seconds,
  settings,
  tellAwaited,
  tellLatency,
  tellProgress,
  tellRate,
  warmUpFor,
} from './protocol.ts';

const AT_ONCE = 200;
const SEND_AT_ONCE = 64;
/** The longest time to send one message, to choose when the messages are due. */
const SEND_EACH_MS = 2;
/** Rounds of the faster way: a round can be a third faster or slower than the one before. */
const ROUNDS = 3;

const { folder, oneStep, tenStep, latency, warmUpMs } = settings();
const ends = countdown();
const steps = restate.service({
  name: 'steps',
  handlers: {
    oneStep: async (context: restate.Context, x: number) => {
      const result = await context.run('n0', () => ({ x }));
      ends.tick();
      return result;
    },
    tenStep: async (context: restate.Context, x: number) => {
      let result = { x };
      for (let index = 0; index < STEPS; index++) result = await context.run(`n${index}`, () => ({ x: result.x }));
      ends.tick();
      return result;
    },
  },
});
type Name = 'oneStep' | 'tenStep';

const [ingressPort, adminPort, nodePort, servicePort] = await freePorts(4);
const server = startServer();
try {
  await restate.serve({ services: [steps], port: servicePort! });
  await register();
  await measure(clients.connect({ url: `http://127.0.0.1:${ingressPort}` }));
} finally {
  server.kill('SIGKILL');
}
process.exit();

async function measure(ingress: clients.Ingress): Promise<void> {
  const client = ingress.serviceClient(steps);
  const sender = ingress.serviceSendClient(steps);
  await warmUpFor(warmUpMs, async () => {
    await concurrently(AT_ONCE, AT_ONCE, () => client.oneStep(1));
    await concurrently(AT_ONCE, AT_ONCE, () => client.tenStep(1));
  });
  const calls = (name: Name, count: number) => {
    tellProgress(`${name}: ${count} calls, ${AT_ONCE} at once`);
    return seconds(() => concurrently(count, AT_ONCE, () => client[name](1)));
  };
  const messages = async (name: Name, count: number) => {
    tellProgress(`${name}: ${count} messages that are due at one moment`);
    const all = ends.expect(count);
    const dueAt = Date.now() + 2_000 + count * SEND_EACH_MS;
    await concurrently(count, SEND_AT_ONCE, () =>
      sender[name](1, clients.rpc.sendOpts({ delay: Math.max(0, dueAt - Date.now()) })),
    );
    await delay(Math.max(0, dueAt - Date.now()));
    return seconds(() => all);
  };
  const called = await calls('oneStep', oneStep);
  tellAwaited(oneStep / called);
  tellRate('one-step', 'executions/s', oneStep, {
    calls: called,
    messages: await middleOf(ROUNDS, () => messages('oneStep', oneStep)),
  });
  tellRate('ten-step', 'steps/s', tenStep * STEPS, {
    calls: await calls('tenStep', tenStep),
    messages: await middleOf(ROUNDS, () => messages('tenStep', tenStep)),
  });
  tellProgress('ten steps, one at a time');
  tellLatency(await oneByOne(latency, () => client.tenStep(1)));
}

async function middleOf(count: number, measure: () => Promise<number>): Promise<number> {
  const measured: number[] = [];
  while (measured.length < count) measured.push(await measure());
  return measured.sort((a, b) => a - b)[count >> 1]!;
}

function startServer(): ChildProcess {
  const { platform, arch } = process;
  const program = `@restatedev/restate-server-${platform}-${arch}/bin/restate-server`;
  const child = spawn(createRequire(import.meta.url).resolve(program), ['--no-logo'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
      RESTATE_LOG_FILTER: 'error',
      RESTATE_DISABLE_TELEMETRY: 'true',
    },
  });
  process.on('exit', () => child.kill('SIGKILL'));
  process.on('disconnect', () => process.exit());
  return child;
}

/** Waits, because the server takes a moment to come up. */
async function register(): Promise<void> {
  tellProgress('starting the server');
  for (let tries = 0; ; tries++) {
    try {
      const response = await fetch(`http://127.0.0.1:${adminPort}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}`, force: true }),
      });
      if (response.ok) return;
      throw new Error(`${response.status} ${await response.text()}`);
    } catch (error) {
      if (tries === 120) throw error;
      await delay(250);
    }
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((each) => once(each, 'listening')));
  const ports = servers.map((each) => (each.address() as AddressInfo).port);
  await Promise.all(servers.map((each) => once(each.close(), 'close')));
  return ports;
}
