// An action that has returned a promise: its outcome, its timeout, or the end of the grace after it was told to stop, whichever
// comes first. A class, because every call to the outside has one, and closures for what nearly never happens cost more than it does.

import type { StopSignal } from './stop.ts';

/** Rejections of `settle` that are not the action's own. */
export class AttemptTimedOut extends Error {}
export class AttemptAbandoned extends Error {}

export interface SettleOptions {
  /** null = none. */
  readonly timeoutMs: number | null;
  /** How long it may take to end by itself once it is told to stop. */
  readonly abortGraceMs: number;
  /** The engine's word that it shall stop. */
  readonly outer: StopSignal | undefined;
  /** Hands that word on to the action. */
  readonly stop: (reason: Error) => void;
}

/** Node fires timers that are longer than this at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function settle(running: PromiseLike<unknown>, options: SettleOptions): Promise<unknown> {
  return new Promise((resolve, reject) => new Settling(options, resolve, reject).watch(running));
}

class Settling {
  private readonly options: SettleOptions;
  private readonly resolve: (value: unknown) => void;
  private readonly reject: (reason: unknown) => void;
  private timer: NodeJS.Timeout | undefined;
  private grace: NodeJS.Timeout | undefined;

  constructor(options: SettleOptions, resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
    this.options = options;
    this.resolve = resolve;
    this.reject = reject;
  }

  watch(running: PromiseLike<unknown>): void {
    const { timeoutMs, outer } = this.options;
    if (timeoutMs !== null) this.timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS), this);
    outer?.addEventListener('abort', this, { once: true });
    if (outer?.aborted) this.handleEvent();
    // What is no real promise may throw, answer twice, or answer with another promise.
    Promise.resolve(running).then(
      (value) => {
        this.leave();
        this.resolve(value);
      },
      (thrown: unknown) => this.giveUp(thrown),
    );
  }

  /** The engine told it to stop. */
  handleEvent(): void {
    const { abortGraceMs, outer, stop } = this.options;
    this.grace = setTimeout(abandon, abortGraceMs, this);
    stop(abortReason(outer));
  }

  expire(): void {
    const reason = new AttemptTimedOut(`The attempt did not finish within ${this.options.timeoutMs} ms`);
    this.giveUp(reason);
    this.options.stop(reason);
  }

  giveUp(reason: unknown): void {
    this.leave();
    this.reject(reason);
  }

  private leave(): void {
    clearTimeout(this.timer);
    clearTimeout(this.grace);
    this.options.outer?.removeEventListener('abort', this);
  }
}

const expire = (settling: Settling): void => settling.expire();
const abandon = (settling: Settling): void => settling.giveUp(new AttemptAbandoned());

export function abortReason(signal: StopSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  // An abort without a reason brings one that says nothing.
  if (reason instanceof DOMException) return new Error('The execution stops');
  return reason instanceof Error ? reason : new Error(typeof reason === 'string' ? reason : 'The execution stops');
}
