// What a definition may ask for and the engine refuses unless it is told otherwise: a workflow that starts itself. Asked only when it is
// known what can run, as for actions: a draft may be ahead.

import type { Findings } from '../problem/problem.ts';
import { allDraftNodes, type Draft } from './draft.ts';

export function checkSupport({ id, nodes }: Draft, findings: Findings): void {
  for (const { step, at } of allDraftNodes({ nodes })) {
    if (step?.kind !== 'subworkflow' || step.workflowId !== id) continue;
    const suggestion = 'that fails unless engine.allowRecursion is on';
    findings.warning('SUBWORKFLOW_RECURSION', `${at}/workflowId`, 'the workflow starts itself', suggestion);
  }
}
