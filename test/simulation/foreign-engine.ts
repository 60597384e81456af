// An outside engine: it lives outside of every Pawl process, keeps its own runs, and asks our workers for turns and attempts, at
// least once. On the way a call is lost, late, given to two workers, or answered too late; a run may be lost altogether. The
// outside engine must never decide (I25), and whatever it does, every invariant holds.

import { Stop } from '../../src/action/stop.ts';
import type { RunStatusSnapshot } from '../../src/driver/driver.ts';
import type { Open } from '../../src/engine/turn/open.ts';
import type { OutsideTurns } from '../../src/engine/turn/outside-turn.ts';
import type { Random } from './random.ts';
import type { Process, World } from './world.ts';

export interface Worker {
  readonly process: Process;
  readonly turns: Pick<OutsideTurns, 'advance' | 'runAttempt'>;
}

export interface ForeignEngineDeps {
  readonly world: World;
  readonly random: Random;
  /** The workers that can be given something now. */
  readonly workers: () => readonly Worker[];
  readonly isStormy: () => boolean;
  /** The clock of due times. */
  readonly clock: () => number;
  /** How likely each fault of one call is while faults are on. */
  readonly faults: ForeignFaults;
}

export interface ForeignFaults {
  readonly lost: number;
  readonly twice: number;
  readonly unanswered: number;
  /** The probability that a run is gone, each time it would go on. */
  readonly gone: number;
}

interface Run {
  readonly executionId: string;
  readonly epoch: number;
  seq: number;
  dueAt: number | undefined;
  readonly taken: Set<string>;
  readonly stops: Set<Stop>;
  isAsking: boolean;
  wantsTurn: boolean;
  state: 'running' | 'ended' | 'absent';
  cancelTimer: () => void;
}

/** A call without an answer is made again after this time. */
const ASK_AGAIN_MS = 400;
const ATTEMPT_AGAIN_MS = 1_500;
const NOBODY_MS = 50;

export class ForeignEngine {
  private readonly deps: ForeignEngineDeps;
  private readonly runs = new Map<string, Run>();

  constructor(deps: ForeignEngineDeps) {
    this.deps = deps;
  }

  /** The same execution and epoch give the same run. */
  start(executionId: string, epoch: number): string {
    const key = `${executionId}/${epoch}`;
    if (this.runs.has(key)) return key;
    const run: Run = {
      executionId,
      epoch,
      seq: 0,
      dueAt: undefined,
      taken: new Set(),
      stops: new Set(),
      isAsking: false,
      wantsTurn: true,
      state: 'running',
      cancelTimer: () => {},
    };
    this.runs.set(key, run);
    this.turn(run);
    return key;
  }

  mail(key: string): void {
    const run = this.runs.get(key);
    if (run === undefined || this.isLost()) return;
    run.wantsTurn = true;
    this.turn(run);
  }

  statusOf(key: string): RunStatusSnapshot {
    const state = this.runs.get(key)?.state ?? 'absent';
    return { state, providerStatus: state };
  }

  private turn(run: Run): void {
    const { random, faults, isStormy } = this.deps;
    if (run.state !== 'running' || run.isAsking || !run.wantsTurn) return;
    if (isStormy() && random.chance(faults.gone)) {
      // Somebody has terminated the run; its workers go on.
      run.state = 'ended';
      return;
    }
    run.isAsking = true;
    run.wantsTurn = false;
    const { executionId, epoch } = run;
    const since = random.chance(0.5) ? 0 : run.seq;
    this.call(
      ASK_AGAIN_MS,
      ({ turns }) => turns.advance({ executionId, epoch, since }),
      (open) => {
        run.isAsking = false;
        this.take(run, open);
        this.turn(run);
      },
    );
  }

  /** Answers come in any order: each attempt and child is taken once, whichever answer names it. */
  private take(run: Run, open: Open): void {
    if (run.state !== 'running') return;
    if (open.ended === true) {
      run.state = 'ended';
      run.cancelTimer();
      return;
    }
    if (open.seq >= run.seq) {
      run.seq = open.seq;
      run.dueAt = open.nextDueAt;
    }
    if (open.stopping === true) for (const stop of run.stops) stop.abort();
    for (const { nodeId, attempt } of open.attempts) this.attempt(run, nodeId, attempt);
    for (const child of open.children) this.start(child.executionId, 1);
    if (run.dueAt !== undefined) this.wakeAt(run, run.dueAt);
  }

  private attempt(run: Run, nodeId: string, attempt: number): void {
    const name = `${nodeId}:${attempt}`;
    if (run.taken.has(name)) return;
    run.taken.add(name);
    const { executionId, epoch } = run;
    const since = this.deps.random.chance(0.5) ? 0 : run.seq;
    this.call(
      ATTEMPT_AGAIN_MS,
      async ({ turns }) => {
        const stop = new Stop();
        run.stops.add(stop);
        try {
          return await turns.runAttempt({ executionId, epoch, nodeId, attempt, since }, stop);
        } finally {
          run.stops.delete(stop);
        }
      },
      (open) => this.take(run, open),
    );
  }

  private wakeAt(run: Run, dueAt: number): void {
    const { world, clock } = this.deps;
    run.cancelTimer();
    run.cancelTimer = world.schedule(Math.max(1, dueAt - clock()), null, () => {
      run.wantsTurn = true;
      this.turn(run);
    });
  }

  /** At least once: the call is made again until one answer has come, from any worker. */
  private call(patienceMs: number, ask: (worker: Worker) => Promise<Open>, answered: (open: Open) => void): void {
    const { world, random, faults, isStormy } = this.deps;
    let isAnswered = false;
    const deliver = (): void => {
      const workers = this.deps.workers();
      if (isAnswered || workers.length === 0) return;
      const worker = random.pick(workers);
      const isHeard = !(isStormy() && random.chance(faults.unanswered));
      worker.process.timers.soon(() => {
        ask(worker).then(
          (open) => {
            if (!isHeard) return;
            // The answer takes time. Its worker may be dead by then, and other workers may answer first.
            world.schedule(random.between(1, 30), null, () => {
              if (isAnswered) return;
              isAnswered = true;
              answered(open);
            });
          },
          () => undefined,
        );
      });
    };
    const tryOnce = (): void => {
      if (isAnswered) return;
      if (!this.isLost()) world.schedule(random.between(1, 20), null, deliver);
      if (isStormy() && random.chance(faults.twice)) world.schedule(random.between(1, patienceMs), null, deliver);
      const wait = this.deps.workers().length === 0 ? NOBODY_MS : patienceMs * random.between(1, 2);
      world.schedule(wait, null, tryOnce);
    };
    tryOnce();
  }

  private isLost(): boolean {
    const { random, faults, isStormy } = this.deps;
    return isStormy() && random.chance(faults.lost);
  }
}
