// Executions whose runners crashed again and again: one of them may be the cause (I20). After the second crash a few of
// them run at once, so that the innocent are soon out of the way; who has one crash left before the dead letters runs
// with nobody else in the runner (quarantine.ts), so that this crash proves the culprit. Whoever ends an attempt is no suspect any
// more (decide-turn.ts). None is claimed that will not run: a crash would be counted against it.

import { type ClaimedExecution, SUSPICIOUS_CRASHES } from '../../store/port.ts';

const AT_ONCE = 10;

type Crashed = Pick<ClaimedExecution, 'crashes'>;

export const isSuspect = ({ crashes }: Crashed): boolean => crashes >= SUSPICIOUS_CRASHES;

/** After this many crashes, another crash with no other execution in the runner proves the cause. */
export const lastChance = (maxPoisonRetries: number): number => Math.max(SUSPICIOUS_CRASHES, maxPoisonRetries);

/** The most crashes that an execution may have had to be claimed now, beside the suspects that are here. */
export function mostCrashesBeside(here: readonly Crashed[], maxPoisonRetries: number): number {
  if (here.length === 0) return Number.POSITIVE_INFINITY;
  const isAlone = here.some(({ crashes }) => crashes >= lastChance(maxPoisonRetries));
  if (isAlone || here.length >= AT_ONCE) return SUSPICIOUS_CRASHES - 1;
  return lastChance(maxPoisonRetries) - 1;
}

/** Worth another look: one for every single place would cost more than it brings. */
export const hasPlaceForMore = (here: readonly Crashed[]): boolean => here.length * 2 <= AT_ONCE;

/** How many more may be claimed. Those with the fewest crashes go first. */
export function suspectsToClaim(here: readonly Crashed[], maxPoisonRetries: number) {
  return { atMost: Math.max(0, AT_ONCE - here.length), lastChance: lastChance(maxPoisonRetries) };
}
