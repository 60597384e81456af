// What a node may run: one of the known actions, where they are known. A worker of a task queue may know others.

import { didYouMean } from '../expression/problem.ts';
import type { Findings } from '../problem/problem.ts';
import { allDraftNodes, type Draft } from './draft.ts';

const WHERE_ACTIONS_ARE =
  '`GET /api/v1/actions` lists what there is; actions of your own are in the folder of `--actions`';

/** `mayBeElsewhere`: an action that is not known here, but may be where the definition runs. */
export function checkActions(
  draft: Draft,
  actions: ReadonlySet<string>,
  findings: Findings,
  mayBeElsewhere: (type: string) => boolean = () => false,
): void {
  for (const { step, actionAt, dispatch } of allDraftNodes(draft)) {
    if (actionAt === null || step?.kind !== 'action' || actions.has(step.actionType)) continue;
    const queue = dispatch?.taskQueue;
    if (queue !== undefined) {
      const message = `there is no action \`${step.actionType}\` here: a worker of task queue \`${queue}\` must know it`;
      findings.warning(
        'UNKNOWN_ACTION',
        actionAt,
        message,
        'publish again where the action is known, to have it checked',
      );
      continue;
    }
    if (mayBeElsewhere(step.actionType)) {
      const message = `no action \`${step.actionType}\` comes with Pawl: the server must know it`;
      findings.warning('UNKNOWN_ACTION', actionAt, message, 'name the folder of your own actions with `--actions`');
      continue;
    }
    const suggestion = didYouMean(findings.nearMiss(step.actionType, actions)) ?? WHERE_ACTIONS_ARE;
    findings.error('UNKNOWN_ACTION', actionAt, `there is no action \`${step.actionType}\``, suggestion);
  }
}
