// Makes a failing case smaller: takes away executions, faults, fates and runners, as long as the case still fails in the same
// way. Each try is a whole run; a case of a few lines is worth a few dozen runs.

import type { Violation } from './audit.ts';
import type { Case } from './case.ts';
import { FATES } from './network.ts';
import { type Plant, simulate } from './simulation.ts';

const MOST_RUNS = 150;

export interface Shrunk {
  readonly given: Case;
  readonly violations: readonly Violation[];
}

export async function shrink(given: Case, invariant: string, plant: () => Plant = () => ({})): Promise<Shrunk> {
  let best: Shrunk = { given, violations: [] };
  let runs = 0;
  const fails = async (candidate: Case): Promise<boolean> => {
    if (runs++ >= MOST_RUNS) return false;
    const { violations } = await simulate(candidate, plant());
    if (!violations.some((violation) => violation.invariant === invariant)) return false;
    best = { given: candidate, violations };
    return true;
  };
  for (let before = ''; before !== signature(best.given) && runs < MOST_RUNS; ) {
    before = signature(best.given);
    await thin(best.given.executions, (executions) => fails({ ...best.given, executions }));
    await thin(best.given.faults, (faults) => fails({ ...best.given, faults }));
    for (const fate of FATES) {
      if (best.given.fates[fate] > 0) await fails({ ...best.given, fates: { ...best.given.fates, [fate]: 0 } });
    }
    if (best.given.runners > 1) await fails({ ...best.given, runners: best.given.runners - 1 });
  }
  return best;
}

function signature({ executions, faults, fates, runners }: Case): string {
  return JSON.stringify([executions.length, faults.length, fates, runners]);
}

/** Takes away halves, then quarters, down to single items, and keeps the smallest list that still fails. */
export async function thin<T>(items: readonly T[], fails: (fewer: readonly T[]) => Promise<boolean>): Promise<void> {
  let left = items;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length; ) {
      const fewer = [...left.slice(0, from), ...left.slice(from + size)];
      if (await fails(fewer)) left = fewer;
      else from += size;
    }
  }
}
