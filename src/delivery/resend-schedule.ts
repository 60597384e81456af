// The delay before a delivery is sent again, by the number of attempts: constant for the first ten, then growing up to the cap;
// and the delay before a reminder. A bus is one system behind many messages, so its retries back off exponentially, with jitter,
// from the first failure on.

import type { DeliveryOptions } from './environment.ts';

type Delays = Pick<DeliveryOptions, 'deliveredAfterMs' | 'processedAfterMs' | 'resendCapMs'>;

const STEADY_RESENDS = 10;
const REMINDER_FACTORS = [1, 2, 4, 8];

/** The last delay repeats. */
export function resendDelays({ deliveredAfterMs, resendCapMs }: Delays): number[] {
  const cap = Math.max(deliveredAfterMs, resendCapMs);
  const delays = Array.from({ length: STEADY_RESENDS }, () => deliveredAfterMs);
  for (let delay = deliveredAfterMs * 2; delay < cap; delay *= 2) delays.push(delay);
  return [...delays, cap];
}

/** Doubles each time, starting when an attempt is certainly over. */
export function busDelays({ timeoutMs, resendCapMs }: Pick<DeliveryOptions, 'timeoutMs' | 'resendCapMs'>): number[] {
  const cap = Math.max(timeoutMs, resendCapMs);
  const delays: number[] = [];
  for (let delay = timeoutMs; delay < cap; delay *= 2) delays.push(delay);
  return [...delays, cap];
}

/** Adds up to half as much again, so that retries do not come back at the same moment. `random`: from 0 to 1. */
export const jittered = (delays: readonly number[], random: () => number): number[] =>
  delays.map((delay) => Math.round(delay * (1 + random() / 2)));

export function remindDelays({ processedAfterMs }: Delays): number[] {
  return REMINDER_FACTORS.map((factor) => factor * processedAfterMs);
}

/** The delay before the next attempt, as the store computes it, for messages that mention it. */
export function delayAfter(delays: readonly number[], attempts: number): number {
  return delays[Math.min(attempts, delays.length) - 1] ?? 0;
}
