// One run: a database behind a proxy that cuts connections, processes that trigger, send and monitor and are killed with -9, and
// consumers that die at random. Then the faults stop, and everything that was acknowledged must have come to its end.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { migrateUp } from '../../../src/store/migrate/migrate.ts';
import { lastingPorts } from '../../support/lasting-port.ts';
import { startDatabaseServer } from '../database-server.ts';
import { type Fault, startFaultProxy } from '../fault-proxy.ts';
import { createRandom, type Random } from '../random.ts';
import type { Violation } from '../violation.ts';
import { checkMessaging } from './check.ts';
import { readLedger } from './consumer-ledger.ts';
import { InstanceLoad } from './instance-load.ts';
import { KeptProcess } from './kept-process.ts';

export interface MessagingChaosOptions {
  readonly seed: string;
  readonly stormMs: number;
  readonly instancesPerSecond?: number;
  readonly healMs?: number;
  readonly onProgress?: (step: string) => void;
}

export interface MessagingChaosReport {
  readonly violations: readonly Violation[];
  readonly instances: number;
  readonly received: number;
  readonly receivedAgain: number;
  readonly nodeKills: number;
  readonly consumerDeaths: number;
  readonly asksRepeated: number;
  readonly cuts: Readonly<Record<string, number>>;
  readonly healedMs: number;
}

const NODES = 2;
const CODES = ['first', 'second'];
const DELIVERED_AFTER_MS = 600;
const PROCESSED_AFTER_MS = 700;
const DEATH = 0.01;
const LEASE_MS = 1_500;
/** Long enough for a wrong reminder, and one more. */
const QUIET_MS = 3 * PROCESSED_AFTER_MS;

export async function runMessagingChaos(options: MessagingChaosOptions): Promise<MessagingChaosReport> {
  const closers: (() => unknown)[] = [];
  try {
    return await play(options, (closer) => closers.push(closer));
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function play(
  options: MessagingChaosOptions,
  onClose: (closer: () => unknown) => void,
): Promise<MessagingChaosReport> {
  const { seed, stormMs, instancesPerSecond = 6, healMs = 60_000, onProgress: tell = () => {} } = options;
  const random = createRandom(seed);
  const database = await startDatabaseServer();
  onClose(() => database.stop());
  await migrateUp({ connectionString: database.connectionString });
  const weather = { isStormy: false };
  const proxy = await startFaultProxy({
    databasePort: database.port,
    choose: createChooser(random.fork('cuts'), weather),
  });
  onClose(() => proxy.close());
  const url = new URL(database.connectionString);
  url.port = String(proxy.port);

  const [nodePorts, consumerPorts] = [await lastingPorts(NODES), await lastingPorts(CODES.length)];
  const folder = mkdtempSync(join(tmpdir(), 'pawl-consumers-'));
  onClose(() => rmSync(folder, { recursive: true, force: true }));
  const consumers = CODES.map((code, index) => ({ code, port: consumerPorts[index]!, ledger: join(folder, code) }));
  for (const { ledger } of consumers) writeFileSync(ledger, '');
  const storm = join(folder, 'storm');
  const timing = { deliveredAfterMs: DELIVERED_AFTER_MS, processedAfterMs: PROCESSED_AFTER_MS, leaseMs: LEASE_MS };
  const nodes = nodePorts.map(
    (port) => new KeptProcess('./node-process.ts', { databaseUrl: url.href, port, ...timing }),
  );
  const receivers = consumers.map(
    (one) =>
      new KeptProcess('./consumer-process.ts', { ...one, nodePorts, seed: `${seed}/${one.code}`, death: DEATH, storm }),
  );
  for (const kept of [...nodes, ...receivers]) onClose(() => kept.close());
  await Promise.all([...nodes, ...receivers].map((kept) => kept.isReady()));
  const load = new InstanceLoad(nodePorts, random.fork('load'));
  await load.prepare(consumers.map(({ code, port }) => ({ code, url: `http://127.0.0.1:${port}/` })));

  tell(`storm for ${stormMs / 1_000} s`);
  weather.isStormy = true;
  writeFileSync(storm, '');
  const killers = [killSome(nodes, random.fork('kills'), weather), killSome(receivers, random.fork('deaths'), weather)];
  await load.runFor(stormMs, instancesPerSecond);
  weather.isStormy = false;
  rmSync(storm);
  const [nodeKills] = (await Promise.all(killers)) as [number, number];
  tell('calm: everything acknowledged must end');
  const calmAt = Date.now();
  const settled = await load.settled(healMs);
  const isDone = settled && (await allEnded(database.connectionString, calmAt + healMs));
  const healedMs = Date.now() - calmAt;
  const lines = () =>
    consumers.reduce((sum, { ledger }) => sum + readLedger(ledger).filter(({ type }) => type === 'received').length, 0);
  // Messages that are on their way still arrive; after that, no consumer may get anything.
  await delay(DELIVERED_AFTER_MS);
  const before = lines();
  await delay(QUIET_MS);

  tell('checking');
  const violations = [
    ...load.violations,
    ...(await checkMessaging(database.connectionString, consumers, load.submitted)),
  ];
  const broken = (what: string) => violations.push({ invariant: 'I19', executionId: null, what });
  if (!isDone)
    broken(
      `not done ${healMs} ms after the storm; ${nodes
        .map(({ words }) => words)
        .join(' ')
        .slice(-1_000)}`,
    );
  else if (lines() !== before) broken('something was sent although everything was processed');
  const guids = new Set(
    consumers.flatMap(({ code, ledger }) => readLedger(ledger).map(({ guid }) => `${code} ${guid}`)),
  );
  return {
    violations,
    instances: load.submitted.size,
    received: before,
    receivedAgain: before - guids.size,
    nodeKills,
    consumerDeaths: receivers.reduce((sum, { deaths }) => sum + deaths, 0),
    asksRepeated: load.asksRepeated,
    cuts: Object.fromEntries(proxy.counts),
    healedMs,
  };
}

async function killSome(
  processes: readonly KeptProcess[],
  random: Random,
  weather: { readonly isStormy: boolean },
): Promise<number> {
  let kills = 0;
  while (weather.isStormy) {
    await delay(random.between(500, 2_500));
    const one = random.pick(processes);
    // A process that never came up has nothing that a kill could interrupt.
    await one.isReady();
    if (!weather.isStormy) break;
    one.kill();
    kills++;
  }
  return kills;
}

/** Statements that change something are hit more often than statements that only read. */
const EXPOSED =
  /^(lifecycle_apply|delivery_claim|delivery_ack|delivery_promote|instance_claim_due|reaction_claim|reaction_settle)/;

function createChooser(random: Random, weather: { readonly isStormy: boolean }): (statement: string) => Fault {
  return (statement) => {
    if (!weather.isStormy || !random.chance(EXPOSED.test(statement) ? 0.03 : 0.003)) return { kind: 'none' };
    const kind = random.weighted({ cutBefore: 2, cutAfter: 3, cutDuring: 2, cutLate: 2, delayReply: 2 });
    return kind === 'cutLate' || kind === 'delayReply' ? { kind, ms: random.between(20, 800) } : { kind };
  };
}

async function allEnded(connectionString: string, giveUpAt: number): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ open: boolean }>(
        'select exists (select from deliveries where stage not in (2, 4)) or exists (select from lifecycle_reactions) as open',
      );
      if (!rows[0]!.open) return true;
      if (Date.now() > giveUpAt) return false;
      await delay(100);
    }
  } finally {
    await client.end();
  }
}
