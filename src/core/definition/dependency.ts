// `needs` of a pipeline and `dependsOn` of an execution plan: edges declared by the node at their end.

import type { Json } from '../json/json.ts';
import type { PlanEdge } from '../plan/plan.ts';
import type { Findings } from '../problem/problem.ts';
import type { DraftEdge } from './draft.ts';
import { listIn, objectIn, textIn } from './json-read.ts';

export function readDependencies(
  names: Json | undefined,
  owner: number,
  listAt: string,
  when: PlanEdge['when'],
  findings: Findings,
): DraftEdge[] {
  const seen = new Set<string>();
  return listIn(names).flatMap((value, index): DraftEdge[] => {
    const at = `${listAt}/${index}`;
    const conditional = objectIn(value);
    const name = typeof value === 'string' ? value : textIn(conditional.stepId);
    if (name === null) return [];
    if (seen.has(name)) {
      findings.warning('DUPLICATE_DEPENDENCY', at, `\`${name}\` is listed already`, 'remove it');
      return [];
    }
    seen.add(name);
    const expression = textIn(conditional.when);
    const condition = expression === null ? null : { value: expression, at: `${at}/when` };
    const other = { value: name, at: typeof value === 'string' ? at : `${at}/stepId` };
    return [{ owner, other, direction: 'toOwner', when, condition, implicit: false }];
  });
}
