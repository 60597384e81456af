// The same work by other engines, on the same machine and, where they use PostgreSQL, on the same server: one step, ten in a row,
// ten alone. Each is a separate process (bench/peers), installed on first use with the lock file beside it. A machine may be half
// as fast a minute later, so ours is measured right before and right after each peer.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../measurement.ts';
import type { PeerReport, PeerSettings } from '../peers/protocol.ts';
import type { Reach } from '../report.ts';
import { type Bench, type Scenario, warmUpMs } from '../scenario.ts';
import { awaitedNow } from './awaited.ts';
import { tenStepTimes } from './latency.ts';
import { oursNow } from './throughput.ts';

interface Peer {
  readonly system: string;
  readonly program: URL;
  readonly oneStep: number;
  readonly tenStep: number;
  /** The target for our number, as a multiple of the peer's. */
  readonly reach: Record<string, Reach>;
}

const PEERS: readonly Peer[] = [
  {
    system: 'dbos',
    program: new URL('../peers/dbos.ts', import.meta.url),
    oneStep: 3_000,
    tenStep: 600,
    reach: {
      'one-step': { atLeast: 25 },
      'ten-step': { atLeast: 20 },
      'ten-step-latency': { atMost: 0.4 },
      'awaited-200': { atLeast: 20 },
    },
  },
  {
    system: 'restate',
    program: new URL('../peers/restate.ts', import.meta.url),
    oneStep: 5_000,
    tenStep: 1_500,
    reach: { 'one-step': { atLeast: 14 }, 'ten-step': { atLeast: 6 }, 'awaited-200': { atLeast: 8 } },
  },
  {
    system: 'graphile-worker',
    program: new URL('../peers/graphile-worker.ts', import.meta.url),
    oneStep: 20_000,
    tenStep: 2_000,
    reach: {},
  },
];
const LATENCY = 200;
const ROUNDS_BESIDE = 3;
const PEERS_FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));

export const peers: Scenario = {
  name: 'peers',
  about: 'the same work by DBOS Transact, Restate and graphile-worker',
  async run(bench: Bench) {
    const { report } = bench;
    try {
      await install(bench);
    } catch (error) {
      const hint = 'they come from the npm registry; run `npm ci` in bench/peers where it can be reached';
      return report.skipped('the peers', `${(error as Error).message}; ${hint}`);
    }
    for (const peer of PEERS) {
      try {
        const before = await ours(bench, peer);
        await runPeer(bench, peer);
        compare(bench, peer, [before, await ours(bench, peer)]);
      } catch (error) {
        report.skipped(peer.system, (error as Error).message);
      }
    }
  },
};

async function install({ report }: Bench): Promise<void> {
  const lock = readFileSync(join(PEERS_FOLDER, 'package-lock.json'), 'utf8');
  // A copy of the installed lock file, so that a changed lock file is noticed.
  const stamp = join(PEERS_FOLDER, 'node_modules', '.installed-lock.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  report.progress('peers: installing them, on first use (some 250 MB)');
  // The install scripts of the peers only report usage.
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit'], {
    cwd: PEERS_FOLDER,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`npm ci failed with code ${code}`);
  writeFileSync(stamp, lock);
}

async function runPeer(bench: Bench, { system, program, oneStep, tenStep }: Peer): Promise<void> {
  const { server, scaled } = bench;
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-peer-'));
  const settings: PeerSettings = {
    databaseUrl: await server.createDatabase(`pawl_bench_${system.replaceAll('-', '_')}`),
    folder,
    oneStep: scaled(oneStep),
    tenStep: scaled(tenStep),
    latency: scaled(LATENCY),
    warmUpMs: warmUpMs(bench),
  };
  const execArgv = [...process.execArgv, '--no-warnings'];
  // Restate's SDK would log two lines for each execution, which no other system here does.
  const env = { ...process.env, RESTATE_LOGGING: 'ERROR' };
  const child = fork(program, [JSON.stringify(settings)], { execArgv, stdio: 'pipe', cwd: folder, env });
  try {
    await listen(child, system, bench);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function listen(child: ChildProcess, system: string, { report }: Bench): Promise<void> {
  let words = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => {
      words = (words + chunk).slice(-2_000);
    });
  }
  child.on('message', (message: PeerReport) => {
    if (message.type === 'row') report.row(message.scenario, system, message.unit, message.value);
    if (message.type === 'progress') report.progress(`${system}: ${message.text}`);
    if (message.type === 'ways')
      report.progress(`${system}: ${message.scenario} took ${describeWays(message.seconds)}`);
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`its program ended with ${code ?? signal}: ${words.trim()}`);
}

function describeWays(seconds: Record<string, number>): string {
  return Object.entries(seconds)
    .map(([way, took]) => `${took.toFixed(2)} s (${way})`)
    .join(', ');
}

type Ours = Record<string, readonly number[]>;

/** Our numbers to compare with this peer. */
async function ours(bench: Bench, { system, reach }: Peer): Promise<Ours> {
  bench.report.progress(`${system}: ours beside it`);
  const measured: Record<string, number[]> = {};
  for (const scenario of Object.keys(reach)) {
    measured[scenario] = await oursOf(bench, scenario);
  }
  return measured;
}

function oursOf(bench: Bench, scenario: string): Promise<number[]> {
  if (scenario === 'ten-step-latency') return tenStepTimes(bench, LATENCY / 2);
  if (scenario === 'awaited-200') return awaitedNow(bench, ROUNDS_BESIDE);
  return oursNow(bench, scenario as 'one-step' | 'ten-step', ROUNDS_BESIDE);
}

function compare({ report }: Bench, { system, reach }: Peer, beside: readonly Ours[]): void {
  for (const [scenario, wanted] of Object.entries(reach)) {
    const theirs = report.rows.find((row) => row.scenario === scenario && row.system === system)!;
    const value = median(beside.flatMap((each) => each[scenario] ?? []));
    report.row(scenario, `pawl beside ${system}`, theirs.unit, value);
    report.ratio(`${scenario}/${system}`, value / theirs.value, wanted);
  }
}
