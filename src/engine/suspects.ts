// Executions whose runners crashed again and again: one of them may be the cause (I20). After the second crash a few of
// them run at once, so that the innocent are soon out of the way; who has one crash left before the dead letters runs
// alone, so that this crash proves the culprit. Whoever ends an attempt is no suspect any more (transition.ts).

import { type ClaimedExecution, SUSPICIOUS_CRASHES } from '../store/port.ts';

const AT_ONCE = 10;

type Crashed = Pick<ClaimedExecution, 'crashes'>;

export const isSuspect = ({ crashes }: Crashed): boolean => crashes >= SUSPICIOUS_CRASHES;

/** The most crashes that an execution may have had to be claimed now, beside the suspects that are here. */
export function mostCrashesBeside(here: readonly Crashed[], maxPoisonRetries: number): number {
  if (here.length === 0) return Number.POSITIVE_INFINITY;
  const isAlone = here.some(({ crashes }) => crashes >= maxPoisonRetries);
  if (isAlone || here.length >= AT_ONCE) return SUSPICIOUS_CRASHES - 1;
  return Math.max(SUSPICIOUS_CRASHES, maxPoisonRetries) - 1;
}

/** Worth another look: one for every single place would cost more than it brings. */
export const hasPlaceForMore = (here: readonly Crashed[]): boolean => here.length * 2 <= AT_ONCE;

/** Which of the suspects that were claimed run now, beside those that are here. The others go back. */
export function chooseSuspects<Claim extends Crashed>(
  claimed: readonly Claim[],
  here: readonly Crashed[],
  maxPoisonRetries: number,
): Claim[] {
  const most = mostCrashesBeside(here, maxPoisonRetries);
  const together = claimed.filter(({ crashes }) => crashes <= most && crashes < maxPoisonRetries);
  if (together.length > 0 || here.length > 0) return together.slice(0, AT_ONCE - here.length);
  return claimed.slice(0, 1);
}
