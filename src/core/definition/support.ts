// What a definition may ask for and nothing here does: a workflow that starts itself, and steps of an execution plan with plugins.
// A step that would run as something else than the plugin it pinned, is refused. Asked only when it is known what
// can run, as for actions: a draft may be ahead.

import type { Findings } from '../problem/problem.ts';
import { allDraftNodes, type Draft } from './draft.ts';

export function checkSupport({ id, nodes }: Draft, findings: Findings): void {
  for (const { step, at } of allDraftNodes({ nodes })) {
    if (step?.kind !== 'subworkflow' || step.workflowId !== id) continue;
    const suggestion = 'that fails unless engine.allowRecursion is on';
    findings.warning('SUBWORKFLOW_RECURSION', `${at}/workflowId`, 'the workflow starts itself', suggestion);
  }
  for (const { step, at } of nodes) {
    if (step?.kind !== 'action') continue;
    if (step.plugin !== undefined) {
      const message = `plugins cannot be run here: nothing would check or run \`${step.plugin.pluginId}\``;
      findings.error('UNSUPPORTED_BY_ENGINE', `${at}/pluginId`, message, INSTEAD.plugin);
    }
  }
}

const INSTEAD = {
  plugin: 'register the type as an action of your own, and leave the plugin out',
};
