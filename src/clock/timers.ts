// Time as the services of a process see it. A test or the simulation puts its own clock here.

export interface Timers {
  /** Monotonic milliseconds. */
  monotonicMs(): number;
  /** Calls back once. The returned function cancels the call. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back in the next turn of the loop. */
  soon(callback: () => void): void;
}
