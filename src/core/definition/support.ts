// What an execution plan may ask for and nothing here does yet (004 §4.5, §19.1, §19.4). A step that would run without its
// secrets, or as something else than the plugin it pinned, is refused; where it runs does not change what it does, so a
// route that is not taken is a warning. Asked only when it is known what can run, as for actions: a draft may be ahead.

import type { Draft } from './draft.ts';
import { DISPATCH_KEYS } from './execution-plan.ts';
import type { Findings } from './problem.ts';

export function checkSupport({ nodes }: Draft, findings: Findings): void {
  for (const { step, at } of nodes) {
    if (step?.kind !== 'action') continue;
    if (step.secretRefs !== undefined) {
      const message = 'secrets are not resolved here: the step would run without them';
      findings.error('UNSUPPORTED_BY_ENGINE', `${at}/secretRefs`, message, INSTEAD.secretRefs);
    }
    if (step.plugin !== undefined) {
      const message = `plugins cannot be run here: nothing would check or run \`${step.plugin.pluginId}\``;
      findings.error('UNSUPPORTED_BY_ENGINE', `${at}/pluginId`, message, INSTEAD.plugin);
    }
  }
  warnOfRouting(nodes, findings);
}

const INSTEAD = {
  secretRefs: "leave them out, and give the connector its credentials in the runner's configuration",
  plugin: 'register the type as an action of your own, and leave the plugin out',
};

/** Once for a plan: its planner routes every step. */
function warnOfRouting(nodes: Draft['nodes'], findings: Findings): void {
  const routed = nodes.filter(({ dispatch }) => DISPATCH_KEYS.some((key) => dispatch?.[key] !== undefined));
  const [first] = routed;
  if (first === undefined) return;
  const others = routed.length === 1 ? '' : ` (as that of ${routed.length - 1} more)`;
  const message = `\`dispatch\`${others} is kept but not acted upon: every runner takes every step`;
  const suggestion = 'leave it out, unless another engine reads this plan too';
  findings.warning('DISPATCH_IGNORED', `${first.at}/dispatch`, message, suggestion);
}
