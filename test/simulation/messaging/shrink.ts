// Makes a failing case of lifecycles and deliveries smaller, as shrink.ts does for executions.

import type { Violation } from '../audit.ts';
import { FATES } from '../network.ts';
import { thin } from '../shrink.ts';
import type { MessagingCase } from './case.ts';
import { type MessagingPlant, simulateMessaging } from './simulation.ts';

const MOST_RUNS = 150;

export async function shrinkMessaging(
  given: MessagingCase,
  invariant: string,
  plant: () => MessagingPlant = () => ({}),
): Promise<{ readonly given: MessagingCase; readonly violations: readonly Violation[] }> {
  let best = { given, violations: [] as readonly Violation[] };
  let runs = 0;
  const fails = async (change: Partial<MessagingCase>): Promise<boolean> => {
    if (runs++ >= MOST_RUNS) return false;
    const candidate = { ...best.given, ...change };
    const { violations } = await simulateMessaging(candidate, plant());
    if (!violations.some((violation) => violation.invariant === invariant)) return false;
    best = { given: candidate, violations };
    return true;
  };
  await thin(given.instances, (instances) => fails({ instances }));
  await thin(given.faults, (faults) => fails({ faults }));
  for (const fate of FATES) if (best.given.fates[fate] > 0) await fails({ fates: { ...best.given.fates, [fate]: 0 } });
  for (const loss of ['requestLoss', 'replyLoss'] as const) if (best.given[loss] > 0) await fails({ [loss]: 0 });
  while (best.given.nodes > 1 && (await fails({ nodes: best.given.nodes - 1 })));
  if (best.given.lateConsumerAtMs !== null) await fails({ lateConsumerAtMs: null });
  return best;
}
