// The faults, as data: crashes, pauses, partitions and stops of runners, outages of the database, its clock set back, and traps
// that strike in the middle of a named statement.

import type { Store } from '../../src/store/port.ts';
import type { Fate } from './network.ts';
import type { Random } from './random.ts';

export const LEASE_MS = 3_000;

export type Fault =
  | { readonly kind: 'crash'; readonly runner: number; readonly atMs: number; readonly downMs: number }
  | { readonly kind: 'pause'; readonly runner: number; readonly atMs: number; readonly forMs: number }
  /** The runner cannot reach the database, and goes on with what it has. */
  | { readonly kind: 'partition'; readonly runner: number; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'stop'; readonly runner: number; readonly atMs: number; readonly downMs: number }
  /** Strikes the moment the runner sends this statement for the nth time, while the statement is on its way and unanswered. */
  | {
      readonly kind: 'trap';
      readonly runner: number;
      readonly method: TrappedMethod;
      readonly nth: number;
      /** What happens to the runner, or to the statement itself. */
      readonly strike: 'crash' | 'pause' | 'partition' | Fate;
      readonly forMs: number;
    }
  | { readonly kind: 'outage'; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'clock'; readonly atMs: number; readonly byMs: number };

/** How likely each fate of a statement is. */
export function randomFates(random: Random): Record<Fate, number> {
  const level = random.pick([0, 0.01, 0.04, 0.12]);
  const share = () => level * random.pick([0, 0.5, 1]);
  return { before: share(), after: share(), late: share(), stray: share(), slow: share() };
}

export function randomFaults(random: Random, runners: number, healAtMs: number): Fault[] {
  if (runners > 1 && random.chance(0.4)) return zombieWeather(random, runners, healAtMs);
  const count = random.pick([0, 1, 3, 6, 9]);
  return Array.from({ length: count }, () => randomFault(random, runners, healAtMs));
}

const TRAPPED_METHODS = [
  'executionCommit',
  'executionCommit',
  'executionClaim',
  'queueLanes',
  'executionLoad',
  'executionPark',
  'parkCheck',
  'leaseRenew',
  'runnerListLive',
  'runnerDeclareDead',
  'executionRelease',
  'inboxRead',
  'deadLetterAdd',
  'deadLetterNote',
] as const satisfies readonly (keyof Store)[];
type TrappedMethod = (typeof TRAPPED_METHODS)[number];

/** All runners but the first lose contact for longer than their lease, again and again, and come back. */
function zombieWeather(random: Random, runners: number, healAtMs: number): Fault[] {
  return Array.from({ length: (runners - 1) * 2 }, (_, index) => {
    const runner = 1 + (index % (runners - 1));
    const forMs = random.between(LEASE_MS * 1.2, LEASE_MS * 2.2);
    const strike = random.pick(['pause', 'partition'] as const);
    if (random.chance(0.5)) return { kind: strike, runner, atMs: random.between(100, healAtMs), forMs };
    const method = random.pick(TRAPPED_METHODS.slice(0, 5));
    return { kind: 'trap', runner, method, nth: random.between(1, 12), strike, forMs };
  });
}

const FAULTS = [
  'crash',
  'crash',
  'pause',
  'pause',
  'partition',
  'partition',
  'stop',
  'outage',
  'clock',
  'trap',
  'trap',
  'trap',
] as const;

function randomFault(random: Random, runners: number, healAtMs: number): Fault {
  const runner = random.between(0, runners - 1);
  const atMs = random.between(100, healAtMs);
  switch (random.pick(FAULTS)) {
    case 'crash':
      return { kind: 'crash', runner, atMs, downMs: random.between(10, 4_000) };
    case 'pause':
      return { kind: 'pause', runner, atMs, forMs: random.between(LEASE_MS * 0.5, LEASE_MS * 2.5) };
    case 'partition':
      return { kind: 'partition', runner, atMs, forMs: random.between(LEASE_MS * 0.5, LEASE_MS * 2) };
    case 'stop':
      return { kind: 'stop', runner, atMs, downMs: random.between(10, 2_000) };
    case 'trap':
      return {
        kind: 'trap',
        runner,
        method: random.pick(TRAPPED_METHODS),
        nth: random.pick([1, 2, 3, 5, 8, 13]),
        strike: random.pick(['crash', 'pause', 'partition', 'after', 'late', 'stray']),
        forMs: random.between(10, LEASE_MS * 2.5),
      };
    case 'outage':
      return { kind: 'outage', atMs, forMs: random.between(50, LEASE_MS * 1.5) };
    case 'clock':
      return { kind: 'clock', atMs, byMs: -random.between(1, 200) };
  }
}
