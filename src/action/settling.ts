// An action that returned a promise: waits for its outcome, its timeout, or the end of the grace period after an abort, whichever
// comes first. A class, because every call to the outside has one, and closures for rare cases would cost more.

import type { StopSignal } from './stop.ts';

/** Rejections of `settle` that are not the action's own. */
export class AttemptTimedOut extends Error {}
export class AttemptAbandoned extends Error {}

/** The watched work: its time limit, its abort signal, and the handling of its outcome. */
export interface Watched<Result> {
  /** null = none. */
  readonly timeoutMs: number | null;
  /** How long it may take to end after it is told to stop. */
  readonly abortGraceMs: number;
  /** The engine's abort signal. */
  readonly outer: StopSignal | undefined;
  /** Passes the abort on to the action. */
  stop(reason: Error): void;
  /** Neither throws. */
  fulfilled(value: unknown): Result | Promise<Result>;
  rejected(thrown: unknown): Result;
}

/** Node fires longer timers at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Never rejects. */
export function settle<Result>(running: PromiseLike<unknown>, watched: Watched<Result>): Promise<Result> {
  return new Promise((resolve) => new Settling(watched, resolve).watch(running));
}

class Settling<Result> {
  private readonly watched: Watched<Result>;
  private readonly resolve: (result: Result | Promise<Result>) => void;
  private timer: NodeJS.Timeout | undefined;
  private grace: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(watched: Watched<Result>, resolve: (result: Result | Promise<Result>) => void) {
    this.watched = watched;
    this.resolve = resolve;
  }

  watch(running: PromiseLike<unknown>): void {
    const { timeoutMs, outer } = this.watched;
    if (timeoutMs !== null) this.timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS), this);
    outer?.addEventListener('abort', this, { once: true });
    if (outer?.aborted) this.handleEvent();
    // A thenable that is not a real promise may throw, answer twice, or answer with another promise.
    Promise.resolve(running).then(
      (value) => {
        if (this.leave()) this.resolve(this.watched.fulfilled(value));
      },
      (thrown: unknown) => this.giveUp(thrown),
    );
  }

  /** The engine aborted the attempt. */
  handleEvent(): void {
    const { abortGraceMs, outer } = this.watched;
    this.grace = setTimeout(abandon, abortGraceMs, this);
    this.watched.stop(abortReason(outer));
  }

  expire(): void {
    const reason = new AttemptTimedOut(`The attempt did not finish within ${this.watched.timeoutMs} ms`);
    // Comes first, so that the action's reaction is heard.
    this.watched.stop(reason);
    this.giveUp(reason);
  }

  giveUp(reason: unknown): void {
    if (this.leave()) this.resolve(this.watched.rejected(reason));
  }

  /** false: the outcome is already known. */
  private leave(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    clearTimeout(this.timer);
    clearTimeout(this.grace);
    this.watched.outer?.removeEventListener('abort', this);
    return true;
  }
}

const expire = (settling: Pick<Settling<unknown>, 'expire'>): void => settling.expire();
const abandon = (settling: Pick<Settling<unknown>, 'giveUp'>): void => settling.giveUp(new AttemptAbandoned());

export function abortReason(signal: StopSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  // An abort without a reason carries a meaningless one.
  if (reason instanceof DOMException) return new Error('The execution stops');
  return reason instanceof Error ? reason : new Error(typeof reason === 'string' ? reason : 'The execution stops');
}
