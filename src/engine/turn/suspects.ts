// Executions whose runners crashed repeatedly: one of them may be the cause (I20). After the second crash a few of them run at
// once, so that the innocent are soon cleared. An execution with one crash left runs with no other in the runner (quarantine.ts),
// so that this crash proves the culprit. Ending an attempt clears an execution (decide-turn.ts). None is claimed that will not
// run, because a crash would count against it.

import { type ClaimedExecution, SUSPICIOUS_CRASHES } from '../../store/port.ts';

const AT_ONCE = 10;

type Crashed = Pick<ClaimedExecution, 'crashes'>;

export const isSuspect = ({ crashes }: Crashed): boolean => crashes >= SUSPICIOUS_CRASHES;

/** After this many crashes, another crash with no other execution in the runner proves the cause. */
export const lastChance = (maxPoisonRetries: number): number => Math.max(SUSPICIOUS_CRASHES, maxPoisonRetries);

/** The most crashes that an execution may have to be claimed now, beside the suspects here. */
export function mostCrashesBeside(here: readonly Crashed[], maxPoisonRetries: number): number {
  if (here.length === 0) return Number.POSITIVE_INFINITY;
  const isAlone = here.some(({ crashes }) => crashes >= lastChance(maxPoisonRetries));
  if (isAlone || here.length >= AT_ONCE) return SUSPICIOUS_CRASHES - 1;
  return lastChance(maxPoisonRetries) - 1;
}

/** Worth another look: one look per free place would cost more than it brings. */
export const hasPlaceForMore = (here: readonly Crashed[]): boolean => here.length * 2 <= AT_ONCE;

/** How many more may be claimed, fewest crashes first. */
export function suspectsToClaim(here: readonly Crashed[], maxPoisonRetries: number) {
  return { atMost: Math.max(0, AT_ONCE - here.length), lastChance: lastChance(maxPoisonRetries) };
}
