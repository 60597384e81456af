// How far executions that somebody follows have come. What this process writes is told at once; everything else is found by one look
// for all followers (shared-look.ts).

import type { Timers } from '../clock/timers.ts';
import type { ExecutionHead, ExecutionReader } from '../store/reader-port.ts';
import { SharedLook, type SharedLookDeps, type Waiting } from './shared-look.ts';
import { within } from './within.ts';

export interface FollowedHeadsDeps extends Pick<SharedLookDeps<unknown>, 'isHere' | 'warn'> {
  readonly timers: Timers;
  readonly store: Pick<ExecutionReader, 'executionHeads'>;
}

type Head = Pick<ExecutionHead, 'seq' | 'ended' | 'lineId'>;

/** Followers of an execution that does nothing go on after this time, so that they can say that they are there. */
const QUIET_MS = 5_000;
/** Executions that are followed mostly sleep or wait: any number of open pages asks every two seconds then. */
const SLOWEST_LOOK_MS = 2_000;

export class FollowedHeads {
  private readonly timers: Timers;
  private readonly heads: SharedLook<Head>;

  constructor(deps: FollowedHeadsDeps) {
    this.timers = deps.timers;
    this.heads = new SharedLook<Head>({
      ...deps,
      slowestMs: SLOWEST_LOOK_MS,
      look: async (executionIds) =>
        new Map((await deps.store.executionHeads({ executionIds })).map((head) => [head.executionId, head])),
    });
  }

  /** The runner of this process has written up to this seq. */
  tell(executionId: string, seq: number): void {
    if (this.heads.size > 0) this.heads.tell(executionId, { seq, ended: false, lineId: 0 });
  }

  /** Attempts of this process have written log lines up to this id. */
  tellLines(executionId: string, lineId: number): void {
    if (this.heads.size > 0) this.heads.tell(executionId, { seq: -1, ended: false, lineId });
  }

  /**
   * Register before reading, so that nothing that happens meanwhile is missed. `seen`: the seq that was read last; `seenLine`: the log
   * line, for followers who want those of running attempts.
   */
  listen(executionId: string, seen: () => number, seenLine = () => Number.POSITIVE_INFINITY): Waiting<Head> {
    return this.heads.wait(executionId, (head) => head.seq > seen() || head.ended || head.lineId > seenLine());
  }

  /** Null: nothing has happened for a while, or the follower has left. */
  next(moves: Waiting<Head>, signal: AbortSignal): Promise<Head | null> {
    return within(moves, { timers: this.timers, waitMs: QUIET_MS, signal });
  }
}
