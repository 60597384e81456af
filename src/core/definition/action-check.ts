// What a node may run: one of the known actions, where they are known.

import { didYouMean } from '../expression/problem.ts';
import type { Draft } from './draft.ts';
import type { Findings } from './problem.ts';

export function checkActions(draft: Draft, actions: ReadonlySet<string>, findings: Findings): void {
  for (const { step, actionAt } of draft.nodes) {
    if (actionAt === null || step?.kind !== 'action' || actions.has(step.actionType)) continue;
    const suggestion = didYouMean(findings.nearMiss(step.actionType, actions));
    findings.error('UNKNOWN_ACTION', actionAt, `there is no action \`${step.actionType}\``, suggestion);
  }
}
