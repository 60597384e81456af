// Empties a runner for an execution on its last chance (I20). A crash of a runner with a single execution is proof; a crash
// beside others may be their fault. So the runner stops claiming for a moment, takes the suspect, and takes nothing else until
// the suspect has ended an attempt or has left. Each of these waits is bounded: a long attempt, here or of the suspect, must not
// keep everybody waiting (I11). A later crash happens beside others, and proves nothing.

import type { ClaimResult } from '../../store/port.ts';

const EMPTY_WITHIN_MS = 3_000;
const ALONE_MS = 10_000;
const REST_MS = 10_000;

/** `open`: claim as usual. `closed`: nothing. `alone`: one on its last chance. `rest`: all but those. */
export type Door = 'open' | 'closed' | 'alone' | 'rest';
type Lane = NonNullable<ClaimResult['leftAlone']>;

export class Quarantine {
  /** The lane of a suspect that waits for an empty runner. */
  private waiting: Lane | null = null;
  private since = Number.NEGATIVE_INFINITY;
  private restUntil = Number.NEGATIVE_INFINITY;

  /** Returns when to look again; null: nothing new. */
  saw(lane: Lane, now: number): number | null {
    if (this.waiting !== null || now < this.restUntil) return null;
    this.waiting = lane;
    this.since = now;
    return EMPTY_WITHIN_MS;
  }

  get lane(): Lane | null {
    return this.waiting;
  }

  /** The suspect was taken here or elsewhere. Returns when to look again. */
  took(now: number): number {
    this.waiting = null;
    this.since = now;
    return ALONE_MS;
  }

  door(now: number, here: { readonly lastChances: number; readonly all: number }): Door {
    if (now < this.restUntil) return 'rest';
    if (here.lastChances > 0) {
      if (now < this.since + ALONE_MS) return 'closed';
      this.restUntil = now + REST_MS;
      return 'rest';
    }
    if (this.waiting === null) return 'open';
    return here.all === 0 || now >= this.since + EMPTY_WITHIN_MS ? 'alone' : 'closed';
  }
}
