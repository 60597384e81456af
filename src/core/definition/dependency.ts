// `needs` of a pipeline and `dependsOn` of an execution plan: edges declared by the node at their end.

import type { Json } from '../json/json.ts';
import type { PlanEdge } from '../plan/plan.ts';
import type { Findings } from '../problem/problem.ts';
import type { DraftEdge } from './draft.ts';
import { listIn } from './json-read.ts';

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
    if (typeof value !== 'string') return [];
    if (seen.has(value)) {
      findings.warning('DUPLICATE_DEPENDENCY', at, `\`${value}\` is listed already`, 'remove it');
      return [];
    }
    seen.add(value);
    return [{ owner, other: { value, at }, direction: 'toOwner', when, condition: null, implicit: false }];
  });
}
