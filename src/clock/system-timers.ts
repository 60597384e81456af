// Time of the process. The only place in the engine that touches the real clock and the event loop.

import { performance } from 'node:perf_hooks';
import type { Timers } from './timers.ts';

/** Longer delays than this overflow Node's timers and would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemTimers: Timers = {
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
};
