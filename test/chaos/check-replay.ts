// Replay equals live: folding the stored journal again gives the stored outcome (I15).

import { isDeepStrictEqual } from 'node:util';
import type { Pawl } from '../../src/main.ts';
import type { ExecutionRecord } from './evidence.ts';
import type { Violation } from './violation.ts';

export async function checkReplay(
  pawl: Pawl,
  { tenantId, executionId, outcomes, journal }: ExecutionRecord,
): Promise<Violation[]> {
  const [outcome] = outcomes;
  if (outcome === undefined) return [];
  const report = (what: string, evidence: unknown): Violation[] => [{ invariant: 'I15', executionId, what, evidence }];
  try {
    const { state } = await pawl.executions.inspect(tenantId, executionId);
    const folded = { status: state.status, outputs: state.outputs ?? null, error: state.error };
    return isDeepStrictEqual(plain(folded), plain(outcome))
      ? []
      : report('the journal folds to another outcome than the stored one', { folded, outcome, journal });
  } catch (error) {
    return report(`the journal cannot be folded: ${String(error)}`, journal);
  }
}

/** JSON has no undefined and no prototypes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
