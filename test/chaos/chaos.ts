// One run: start the database, the proxy, the sink and the runners; put load on them while faults happen; then stop the faults,
// and every acknowledged execution must end as expected; then check. The same seed gives the same work and the same faults; the
// timing depends on the machine.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createPawl } from '../../src/main.ts';
import type { OutsideDriver } from '../../src/store/external-port.ts';
import { AckLedger } from './ack-ledger.ts';
import { check, nodeIdsOf, startNodesOf } from './check.ts';
import { type DatabaseServer, startDatabaseServer } from './database-server.ts';
import { createEffectAction } from './effect-action.ts';
import { startEffectSink } from './effect-sink.ts';
import { startEngineServer } from './engine-server.ts';
import { type Evidence, openEvidence } from './evidence.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { Load } from './load.ts';
import { createRandom } from './random.ts';
import type { ChaosReport } from './report.ts';
import { RunnerFleet } from './runner-fleet.ts';
import { createFaultChooser, startStorm } from './storm.ts';
import { createTakeoverLog } from './takeover.ts';
import type { Violation } from './violation.ts';
import { definitions } from './workflow-definitions.ts';
import { TENANTS } from './workload.ts';

export interface ChaosOptions {
  readonly seed: string;
  /** How long the storm lasts. */
  readonly stormMs: number;
  /** The engine that runs the executions; absent: the native engine. */
  readonly driver?: OutsideDriver | undefined;
  readonly runners?: number;
  readonly startsPerSecond?: number | undefined;
  readonly leaseMs?: number;
  /** How long all executions may take to end after the last fault. */
  readonly healMs?: number;
  /** False: the same work without faults, to see that the expectations are right. */
  readonly faults?: boolean;
  readonly onProgress?: (step: string) => void;
}

const STRAGGLING_AFTER_MS = 10_000;

/** The other engines take tens or hundreds of milliseconds for a step, so more work would only wait. */
const USUAL = {
  native: { runners: 4, startsPerSecond: 8 },
  temporal: { runners: 3, startsPerSecond: 2 },
  conductor: { runners: 3, startsPerSecond: 0.8 },
} as const;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    return await play(options, (closer) => closers.push(closer));
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function play(options: ChaosOptions, onClose: (closer: () => Promise<unknown>) => void): Promise<ChaosReport> {
  const usual = USUAL[options.driver ?? 'native'];
  const { seed, stormMs, driver, leaseMs = 2_500, healMs = 100_000, faults = true } = options;
  const { runners = usual.runners, startsPerSecond = usual.startsPerSecond } = options;
  const tell = options.onProgress ?? (() => {});
  const random = createRandom(seed);
  const nodeIds = nodeIdsOf(definitions);
  const starting = driver === undefined ? null : startEngineServer(driver, { isLasting: true });
  onClose(async () => (await starting)?.stop());
  const database = await startDatabaseServer();
  onClose(() => database.stop());
  const engine = await starting;
  const evidence = openEvidence(database.connectionString, nodeIds, startNodesOf(definitions));
  onClose(() => evidence.close());
  const sink = await startEffectSink({ isStarted: evidence.isStarted });
  onClose(() => sink.close());
  const chooser = createFaultChooser(random.fork('cuts'), leaseMs);
  chooser.pause(true);
  const proxy = await startFaultProxy({ databasePort: database.port, choose: chooser.choose });
  onClose(() => proxy.close());
  const databaseUrl = throughProxy(database, proxy.port);

  const pawl = await createPawl({
    runner: false,
    database: { url: databaseUrl },
    ...engine?.config,
    actions: [createEffectAction('client')],
  });
  onClose(() => pawl.close());
  await evidence.keepClaimLog();
  for (const tenantId of TENANTS) {
    for (const definition of definitions) await pawl.publish(definition, { tenantId });
  }
  const ledger = await openLedger(onClose);
  const takeovers = createTakeoverLog(evidence);
  const settings = { databaseUrl, leaseMs, leaseMarginMs: leaseMs / 5, engine: engine?.config };
  const fleet = new RunnerFleet({ size: runners, settings, killed: takeovers.killed });
  onClose(() => fleet.close());
  await fleet.allReady();
  const hasBursts = driver === undefined;
  const load = new Load({ pawl, ledger, random: random.fork('load'), sinkUrl: sink.url, startsPerSecond, hasBursts });

  tell(`storm for ${stormMs / 1_000} s`);
  chooser.pause(!faults);
  const storm = faults ? startStorm({ random: random.fork('storm'), fleet, database, engine, leaseMs }) : null;
  await load.runFor(stormMs);
  await storm?.calm();
  chooser.pause(true);
  tell('calm: everything acknowledged must end');
  const calmAt = Date.now();
  await fleet.allReady();
  const settled = await load.settled(healMs);
  await hasEnded(evidence, calmAt + healMs, tell);
  const healedMs = Date.now() - calmAt;

  tell('checking');
  const acks = await ledger.readBack();
  const { toldToStop } = fleet;
  const { works } = load;
  const found = await check({ pawl, evidence, nodeIds, acks, works, effects: sink.effects, toldToStop, driver });
  if (!settled)
    found.push({ invariant: 'I1', executionId: null, what: 'requests were still unanswered when it was calm' });
  const distinct = new Set(sink.effects.map(({ key, attempt }) => `${key} ${attempt}`)).size;
  const violations = [...fleet.violations, ...sink.violations, ...load.violations, ...found];
  return {
    seed,
    violations: await Promise.all(violations.map((violation) => withOwners(violation, evidence))),
    acks: acks.length,
    executions: load.works.size,
    asksRepeated: load.asksRepeated,
    ...fleet.counts,
    restarts: { ...(storm?.restarts ?? {}) },
    effects: sink.effects.length,
    duplicateEffects: sink.effects.length - distinct,
    unaskedEffects: sink.unasked(),
    cuts: Object.fromEntries(proxy.counts),
    metrics: fleet.metrics(),
    warnings: Object.fromEntries(fleet.warnings),
    takeovers: await takeovers.times(),
    strayMail: await evidence.strayMail(),
    healedMs,
  };
}

/** Most questions about a violation begin with who owned the execution at that time. */
async function withOwners(violation: Violation, evidence: Evidence): Promise<Violation> {
  if (violation.executionId === null) return violation;
  return { ...violation, owners: await evidence.ownerChanges(violation.executionId) };
}

function throughProxy({ connectionString }: DatabaseServer, port: number): string {
  const url = new URL(connectionString);
  url.port = String(port);
  return url.href;
}

async function openLedger(onClose: (closer: () => Promise<unknown>) => void): Promise<AckLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-ledger-'));
  const ledger = await AckLedger.create(join(folder, 'acks.jsonl'));
  onClose(async () => {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return ledger;
}

/**
 * Returns when no execution is live any more, or when time is up; then the check reports what is left. Slow executions are
 * reported at once.
 */
async function hasEnded(evidence: Evidence, giveUpAt: number, tell: (step: string) => void): Promise<void> {
  const tellAt = Date.now() + STRAGGLING_AFTER_MS;
  let told = false;
  while (Date.now() < giveUpAt) {
    const rows = await evidence.unfinished();
    if (rows.length === 0) return;
    if (Date.now() > tellAt && !told) {
      told = true;
      for (const row of rows.slice(0, 5)) tell(`has not ended yet: ${JSON.stringify(row)}`);
    }
    await delay(250);
  }
}
