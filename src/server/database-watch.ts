// Whether the database answers, while requests wait for it. A silent network blocks a statement for up to
// database.queryTimeoutMs, but callers must not wait that long: once the database has been silent for `silentMs`, waiting and new
// requests are refused with 503 until it answers again. Nothing is queried while nobody waits.

import { PawlError } from '../core/error/pawl-error.ts';
import { before } from '../telemetry/deadline.ts';

export interface DatabaseWatchDeps {
  /** A query that any database answers at once. */
  readonly ask: () => Promise<unknown>;
  readonly silentMs: number;
  /** Called once per change. */
  readonly changed: (isAway: boolean, refused: number) => void;
}

const LOOK_EVERY_MS = 1_000;

export class DatabaseWatch {
  private readonly deps: DatabaseWatchDeps;
  private waiting = new Set<(problem: PawlError) => void>();
  private isAway = false;
  private refused = 0;
  private looking = false;
  private closed = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(deps: DatabaseWatchDeps) {
    this.deps = deps;
  }

  /** The work's own answer, or 503. Work that was begun goes on; the caller finds its result by asking again. */
  async guard<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isAway) throw this.refusal();
    const { promise, reject } = Promise.withResolvers<never>();
    this.waiting.add(reject);
    this.lookSoon();
    try {
      const done = work();
      // The losing promise must not become an unhandled rejection.
      done.catch(() => {});
      promise.catch(() => {});
      return await Promise.race([done, promise]);
    } finally {
      this.waiting.delete(reject);
    }
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private lookSoon(): void {
    if (this.looking || this.closed || this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.look();
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    if (this.waiting.size === 0 && !this.isAway) return;
    this.looking = true;
    const answered = await before(this.deps.silentMs, this.deps.ask()).then(
      () => true,
      () => false,
    );
    this.looking = false;
    if (this.closed) return;
    if (answered === this.isAway) this.turn(!answered);
    this.lookSoon();
  }

  private turn(isAway: boolean): void {
    this.isAway = isAway;
    this.deps.changed(isAway, this.refused);
    this.refused = 0;
    if (isAway) for (const reject of this.waiting) reject(this.refusal());
  }

  private refusal(): PawlError {
    this.refused++;
    const retryAfterSeconds = 1;
    return new PawlError('UNAVAILABLE', 'The database does not answer; try again.', { retryAfterSeconds });
  }
}
