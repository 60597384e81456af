// Evaluates conditions. A condition that throws or exceeds its budget gives a warning and counts as false.

import { evaluateCondition } from '../expression/evaluate.ts';
import type { Condition } from '../plan/plan.ts';
import { whyAbsent } from './absence.ts';
import { type Deciding, emit } from './deciding.ts';
import { scopeAt } from './frame.ts';

export type Scope = Readonly<Record<string, unknown>>;

/** Why the condition does not hold; null: it holds, or there is no condition. */
export function conditionRefusal(deciding: Deciding, condition: Condition | null, node: number): string | null {
  if (condition === null) return null;
  const { value, warning } = judge(deciding, condition, scopeAt(deciding.state, node));
  if (warning !== undefined) {
    const message = `condition \`${condition.source}\` counts as false: ${warning}`;
    emit(deciding, { type: 'Warning', code: 'CONDITION_ERROR', message, node });
    return message;
  }
  return value ? null : `condition false: ${condition.source}`;
}

export function judge(deciding: Deciding, { expr }: Condition, scope: Scope): { value: boolean; warning?: string } {
  const { state, context, spend } = deciding;
  const work = () => evaluateCondition(expr, scope, context.limits, spend, whyAbsent(state));
  return context.measure === undefined ? work() : context.measure('condition', work);
}
