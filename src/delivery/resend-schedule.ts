// How long until a delivery is sent again, by the number of attempts so far: steadily for the first ten times, then
// less and less often, never less often than the cap; and how long until a delivered one is reminded of. A bus is one system behind many
// messages, so it is asked exponentially less often, and at random moments, from its first failure on.

import type { DeliveryOptions } from './environment.ts';

type Delays = Pick<DeliveryOptions, 'deliveredAfterMs' | 'processedAfterMs' | 'resendCapMs'>;

const STEADY_RESENDS = 10;
const REMINDER_FACTORS = [1, 2, 4, 8];

/** The last one counts from there on. */
export function resendDelays({ deliveredAfterMs, resendCapMs }: Delays): number[] {
  const cap = Math.max(deliveredAfterMs, resendCapMs);
  const delays = Array.from({ length: STEADY_RESENDS }, () => deliveredAfterMs);
  for (let delay = deliveredAfterMs * 2; delay < cap; delay *= 2) delays.push(delay);
  return [...delays, cap];
}

/** Doubled each time, from when an attempt is over for certain. */
export function busDelays({ timeoutMs, resendCapMs }: Pick<DeliveryOptions, 'timeoutMs' | 'resendCapMs'>): number[] {
  const cap = Math.max(timeoutMs, resendCapMs);
  const delays: number[] = [];
  for (let delay = timeoutMs; delay < cap; delay *= 2) delays.push(delay);
  return [...delays, cap];
}

/** Up to half as long again, so that many do not come back at the same moment. `random`: from 0 to 1. */
export const jittered = (delays: readonly number[], random: () => number): number[] =>
  delays.map((delay) => Math.round(delay * (1 + random() / 2)));

export function remindDelays({ processedAfterMs }: Delays): number[] {
  return REMINDER_FACTORS.map((factor) => factor * processedAfterMs);
}

/** The time of the next attempt as the store computes it, for messages that tell it. */
export function delayAfter(delays: readonly number[], attempts: number): number {
  return delays[Math.min(attempts, delays.length) - 1] ?? 0;
}
