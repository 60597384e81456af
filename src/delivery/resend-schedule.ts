// How long until a delivery is sent again, by the number of attempts so far: steadily for the first ten times, then
// less and less often, never less often than the cap; and how long until a delivered one is reminded of.

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

export function remindDelays({ processedAfterMs }: Delays): number[] {
  return REMINDER_FACTORS.map((factor) => factor * processedAfterMs);
}

/** What the store does with the list, for those who want to say when. */
export function delayAfter(delays: readonly number[], attempts: number): number {
  return delays[Math.min(attempts, delays.length) - 1] ?? 0;
}
