// Backoff while the server is away: each try waits longer than the one before, up to a bound, with jitter.

import { PawlApiError } from './api-error.ts';
import { pause } from './transport.ts';

const FIRST_MS = 250;
const LONGEST_MS = 30_000;

export class Backoff {
  private tries = 0;

  reset(): void {
    this.tries = 0;
  }

  /** Resolves at once when the signal aborts. */
  async rest(signal: AbortSignal | undefined): Promise<void> {
    const delayMs = Math.min(FIRST_MS * 2 ** this.tries, LONGEST_MS) * (0.5 + Math.random() / 2);
    this.tries = Math.min(this.tries + 1, 30);
    if (signal?.aborted !== true) await pause(delayMs, signal).catch(() => undefined);
  }
}

/** No connection, or an overloaded or restarting server: worth another try. A refusal is not. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof PawlApiError)) return true;
  // An answer that is not Pawl's comes from a proxy in front of it.
  return error.status >= 500 || error.status === 408 || error.status === 425 || error.status === 429;
}
