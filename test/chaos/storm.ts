// The faults: when runners are killed and paused, when the database goes away, and which statements lose their connection. Drawn
// from the seed; they end when told to.

import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseServer, RestartKind } from './database-server.ts';
import type { EngineServer } from './engine-server.ts';
import type { Fault } from './fault-proxy.ts';
import type { Random } from './random.ts';
import type { RunnerFleet } from './runner-fleet.ts';

export interface Storm {
  readonly restarts: Readonly<Record<RestartKind | 'engine', number>>;
  /** Ends the storm; resolves when the last fault has passed. */
  calm(): Promise<void>;
}

export interface StormOptions {
  readonly random: Random;
  readonly fleet: RunnerFleet;
  readonly database: DatabaseServer;
  /** The server of the outside engine. */
  readonly engine: EngineServer | null;
  readonly leaseMs: number;
}

export function startStorm({ random, fleet, database, engine, leaseMs }: StormOptions): Storm {
  const restarts = { fast: 0, immediate: 0, kill: 0, engine: 0 };
  const left: RestartKind[] = [];
  let restarting: Promise<void> = Promise.resolve();
  let isEngineAway = false;
  const over = new AbortController();
  const passing = new Set<Promise<void>>();

  /**
   * Never strikes all runners at once: one must be left to take over. Where too few are up, the strike waits until a runner
   * is back.
   */
  async function strikeOne(source: Random, strike: (place: number) => Promise<void>): Promise<void> {
    while (fleet.standing().length < 2 && !over.signal.aborted) await delay(STANDING_POLL_MS);
    const places = fleet.standing();
    if (places.length > 1) await strike(source.pick(places));
  }

  async function every(name: string, low: number, high: number, strike: (source: Random) => Promise<void>) {
    const source = random.fork(name);
    for (;;) {
      await delay(source.between(low, high), undefined, { signal: over.signal }).catch(() => {});
      if (over.signal.aborted) return;
      const strikes = strike(source).finally(() => passing.delete(strikes));
      passing.add(strikes);
    }
  }

  const troubles = [
    every('kill', 2_000, 5_000, (source) => strikeOne(source, (place) => fleet.kill(place, source.between(0, 1_500)))),
    every('stop', 8_000, 14_000, (source) => strikeOne(source, (place) => fleet.stopGracefully(place))),
    every('pause', 4_000, 7_000, (source) =>
      strikeOne(source, (place) => fleet.pause(place, leaseMs + source.between(200, 3_000))),
    ),
    every('restart', 9_000, 15_000, async (source) => {
      // Each kind of restart comes once before any comes again, and never two at once.
      if (left.length === 0) left.push('fast', 'immediate', 'kill');
      const [kind] = left.splice(source.whole(0, left.length - 1), 1);
      restarts[kind!]++;
      restarting = restarting.then(() => database.restart(kind!));
      await restarting;
    }),
    every('engine', 8_000, 14_000, async () => {
      if (engine === null || isEngineAway) return;
      isEngineAway = true;
      restarts.engine++;
      await engine.restart();
      isEngineAway = false;
    }),
  ];
  return {
    restarts,
    async calm() {
      over.abort();
      await Promise.all(troubles);
      await Promise.all(passing);
    },
  };
}

const STANDING_POLL_MS = 100;

type FaultKind = Exclude<Fault['kind'], 'none'>;

interface Exposure {
  readonly statements: RegExp;
  /** How likely one of these statements meets a fault. */
  readonly chance: number;
  readonly kinds: Readonly<Record<FaultKind, number>>;
  readonly latestMs: number;
}

/** Statements that change something are hit more often than statements that only read. The first match counts. */
const EXPOSURES: readonly Exposure[] = [
  {
    // A lost reply to one of these is resolved by asking who owns what. A statement that arrives late could make that answer
    // wrong.
    statements: /^(execution_claim|execution_park|execution_release)/,
    chance: 0.06,
    kinds: { cutBefore: 2, cutAfter: 3, cutDuring: 2, cutLate: 5, delayStatement: 1, delayReply: 1 },
    latestMs: 3_000,
  },
  {
    statements: /^(execution_commit|execution_start|external_|inbox_send|park_check)/,
    chance: 0.04,
    kinds: { cutBefore: 3, cutAfter: 4, cutDuring: 2, cutLate: 2, delayStatement: 1, delayReply: 1 },
    latestMs: 1_000,
  },
  {
    statements: /^/,
    chance: 0.008,
    kinds: { cutBefore: 1, cutAfter: 1, cutDuring: 1, cutLate: 1, delayStatement: 1, delayReply: 1 },
    latestMs: 1_000,
  },
];

export interface FaultChooser {
  choose(statement: string): Fault;
  /** While paused, nothing breaks. */
  pause(paused: boolean): void;
}

export function createFaultChooser(random: Random, leaseMs: number): FaultChooser {
  let calm = false;
  return {
    choose(statement) {
      const { chance, kinds, latestMs } = EXPOSURES.find(({ statements }) => statements.test(statement))!;
      if (calm || !random.chance(chance)) return { kind: 'none' };
      const kind = random.weighted(kinds);
      switch (kind) {
        case 'cutBefore':
        case 'cutAfter':
        case 'cutDuring':
          return { kind };
        case 'cutLate':
          return { kind, ms: random.between(5, latestMs) };
        case 'delayStatement':
        case 'delayReply':
          return { kind, ms: random.chance(0.1) ? leaseMs * 1.2 : random.between(20, 600) };
      }
    },
    pause(paused) {
      calm = paused;
    },
  };
}
