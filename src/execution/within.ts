// Waits with a limit: until there is news, the time is up, or the caller has left.

import type { Timers } from '../clock/timers.ts';
import type { Waiting } from './shared-look.ts';

export interface Within {
  readonly timers: Timers;
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** null: no news. */
export async function within<Found>(
  waiting: Waiting<Found>,
  { timers, waitMs, signal }: Within,
): Promise<Found | null> {
  if (signal?.aborted === true) return null;
  const stop = () => waiting.cancel();
  const cancelTimer = waitMs === Number.POSITIVE_INFINITY ? null : timers.after(Math.max(0, waitMs), stop);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await waiting.promise;
  } finally {
    cancelTimer?.();
    signal?.removeEventListener('abort', stop);
  }
}
