// `core.transform` takes an expression as a parameter. One that is written out is judged when the definition is: at run time it would be
// refused by every execution.

import { parseExpression } from '../expression/parse.ts';
import type { JsonObject } from '../json/json.ts';
import type { Findings } from '../problem/problem.ts';
import { allDraftNodes, type Draft, type Located } from './draft.ts';

const TRANSFORM_ACTION = 'core.transform';

export function checkTransforms(draft: Draft, findings: Findings): void {
  for (const { step, parameters } of allDraftNodes(draft)) {
    if (step?.kind !== 'action' || step.actionType !== TRANSFORM_ACTION) continue;
    const { value, at } = parameters as Located<JsonObject>;
    const { expression } = value;
    // What a template makes of it is known only at run time.
    if (typeof expression !== 'string' || expression.includes('{{')) continue;
    const parsed = parseExpression(expression, { roots: ['input'], dialect: 'javascript' });
    if (parsed.ok) continue;
    const isOneLine = !expression.includes('\n');
    for (const problem of parsed.problems) {
      findings.syntaxError('BAD_EXPRESSION', `${at}/expression`, problem, isOneLine && problem.line === 1);
    }
  }
}
