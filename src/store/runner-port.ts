// Runners: fences and leases (I4, I6). The fence protects the data; the end of a lease only permits others to set it.

import type { Timestamp } from './port.ts';

export interface RunnerStore {
  /** A new incarnation: one runner row, `slots` live fence rows (slot 0 claims and parks, the others commit), a lease. */
  runnerRegister(params: {
    name: string;
    slots: number;
    leaseMs: number;
    /** The newest behaviour version that it understands; 1 unless it says. */
    behaviour?: number;
    /** Which machine and which version of Pawl it is, for people. */
    host?: string | undefined;
    version?: string | undefined;
  }): Promise<RunnerRegistration>;
  /** False when the slots are no longer live: this incarnation was declared dead and must drop all it holds. */
  leaseRenew(params: {
    runnerId: string;
    leaseMs: number;
    /** The session that renews guards the lease from now on: should it end, the lease ends soon. */
    isGuard?: boolean;
  }): Promise<{ renewed: boolean; at: Timestamp }>;
  /**
   * The runners whose slots are live, and whether the lease ended at least `expiredForMs` ago: permission to declare dead, no more.
   * A `judge` also makes guarded leases end in `sessionGraceMs` whose session is gone, if its own guard is at least `settledMs` old.
   */
  runnerListLive(params: {
    expiredForMs: number;
    judge?: { runnerId: string; sessionGraceMs: number; settledMs: number };
  }): Promise<{ runnerId: string; isExpired: boolean }[]>;
  /**
   * Sets all slots of the runner dead in one statement (which waits for its commits in flight), then makes the rows it
   * owned ready again with crashes + 1 (see `lastChance`). Safe to call by several at once; returns how many rows moved in this call.
   */
  runnerDeclareDead(params: {
    runnerId: string;
    /** Only if the lease ended at least this long ago. The statement checks it, because the runner may have renewed meanwhile. */
    expiredForMs?: number;
    /** How long rows with SUSPICIOUS_CRASHES or more wait before they are ready. */
    suspectDelayMs?: number;
    /** Nobody gets more crashes than this but an execution that was alone in the runner: any of several may be the cause. */
    lastChance?: number;
  }): Promise<{ declared: boolean; released: number }>;
  /** Graceful: slots become `stopped`, owned rows ready again, without a crash being counted (I23). */
  runnerStop(params: { runnerId: string }): Promise<{ released: number }>;
  runnerList(): Promise<RunnerInfo[]>;
  /** How many places for attempts it has and uses, for people; answers whether somebody asked it to drain. */
  runnerReport(params: { runnerId: string; places: RunnerPlaces }): Promise<{ isDraining: boolean }>;
  /** Asks it to finish its attempts and to take nothing more. False: no such runner is live. */
  runnerDrain(params: { runnerId: string }): Promise<boolean>;
}

export interface RunnerRegistration {
  runnerId: string;
  slotIds: string[];
  at: Timestamp;
}

export interface RunnerPlaces {
  total: number;
  busy: number;
}

export interface RunnerInfo {
  runnerId: string;
  name: string;
  /** Live until somebody declares it dead, also when it was killed. */
  state: 'live' | 'stopped' | 'dead';
  leaseExpiresAt: Timestamp;
  /** By the clock of the database, its lease has not run out. A live runner without one has been killed or is cut off. */
  hasLease: boolean;
  owned: number;
  registeredAt: Timestamp;
  /** Null: of an older version, or it has not said. */
  host: string | null;
  version: string | null;
  places: RunnerPlaces | null;
  isDraining: boolean;
}
