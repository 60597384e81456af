// The machine that the numbers were measured on.

import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly os: string;
  readonly node: string;
  readonly postgres: string | null;
  /** 1 = the full sizes; any other value proves only that the benchmarks work. */
  readonly scale: number;
  /** Versions of the other engines that are installed. */
  readonly peers: Record<string, string>;
}

const PEER_PACKAGES = [
  '@dbos-inc/dbos-sdk',
  'graphile-worker',
  '@restatedev/restate-server',
  '@restatedev/restate-sdk',
];

export function describeMachine(postgres: string | null, scale: number): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    postgres,
    scale,
    peers: peerVersions(),
  };
}

function peerVersions(): Record<string, string> {
  const versions: Record<string, string> = {};
  for (const name of PEER_PACKAGES) {
    try {
      const manifest = readFileSync(new URL(`./peers/node_modules/${name}/package.json`, import.meta.url), 'utf8');
      versions[name] = (JSON.parse(manifest) as { version: string }).version;
    } catch {
      // The peer is not installed, so it has no row either.
    }
  }
  return versions;
}

export function printMachine(machine: Machine): void {
  const { cpu, cores, memoryGb, os, node, postgres, peers, scale } = machine;
  console.log(
    `\n${cpu}, ${cores} cores, ${memoryGb} GB, ${os}; Node ${node}${postgres ? `; PostgreSQL ${postgres}` : ''}`,
  );
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  if (versions.length > 0) console.log(`Peers: ${versions.join(', ')}`);
  console.log('All numbers are of one run on one machine: compare ratios, not numbers of different runs.');
  if (scale !== 1) console.log(`Scale ${scale}: the sizes are not the real ones, so the numbers mean little.`);
}
