// What a node may run: one of the known actions, where they are known.

import { didYouMean } from '../expression/problem.ts';
import type { Draft } from './draft.ts';
import type { Findings } from './problem.ts';

const WHERE_ACTIONS_ARE =
  '`GET /api/v1/actions` lists what there is; actions of your own are in the folder of `--actions`';

export function checkActions(draft: Draft, actions: ReadonlySet<string>, findings: Findings): void {
  for (const { step, actionAt } of draft.nodes) {
    if (actionAt === null || step?.kind !== 'action' || actions.has(step.actionType)) continue;
    const suggestion = didYouMean(findings.nearMiss(step.actionType, actions)) ?? WHERE_ACTIONS_ARE;
    findings.error('UNKNOWN_ACTION', actionAt, `there is no action \`${step.actionType}\``, suggestion);
  }
}
