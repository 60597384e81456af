// The optional last check of a publish: evaluates every `{{ expression }}` once with an empty trigger and no outputs. A value
// that is missing because it only exists at run time says nothing about the template. Any other failure would happen every time:
// a wrong constant, a wrong call, an expression over its budget.

import { evaluate } from '../core/expression/evaluate.ts';
import { type EvaluationError, MissingValueError } from '../core/expression/evaluation.ts';
import { explainMissing } from '../core/expression/missing.ts';
import { references } from '../core/expression/references.ts';
import type { Plan, PlanNode } from '../core/plan/plan.ts';
import { childPointer, pointerOf } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import { pieces } from '../core/template/pieces.ts';
import type { Piece } from '../core/template/template.ts';

/** Values that are the same in every execution, so they can be checked in advance. */
const CONSTANT_ROOTS = new Set(['vars', 'scope']);

export function dryRunProblems(plan: Plan): Problem[] {
  const scope = emptyScope(plan);
  return plan.nodes.flatMap((node, index) => {
    if (node.parameters === null) return [];
    const base = parametersAt(plan, node, index);
    return pieces(node.parameters).flatMap(({ piece, path }): Problem[] => {
      const message = failureOf(piece, scope);
      if (message === null) return [];
      return [
        { code: 'TEMPLATE_ERROR', path: pointerOf(path, base), message: `${message} (in {{ ${piece.source} }})` },
      ];
    });
  });
}

function failureOf({ expr }: Piece, scope: Readonly<Record<string, unknown>>): string | null {
  try {
    if (evaluate(expr, scope) !== undefined) return null;
  } catch (error) {
    if (!(error instanceof MissingValueError)) return (error as EvaluationError).message;
  }
  const fromOutside = references(expr).some(({ path: [root] }) => !CONSTANT_ROOTS.has(String(root)));
  return fromOutside ? null : (explainMissing(expr, scope) ?? 'the value is undefined');
}

function emptyScope(plan: Plan): Readonly<Record<string, unknown>> {
  switch (plan.format) {
    case 'graph':
      return { trigger: {}, context: { data: {} }, vars: plan.vars, spec: {}, execution: {}, principal: {} };
    case 'pipeline':
      return { trigger: {}, tasks: {}, wait: {} };
    case 'plan':
      return { inputs: {}, steps: {}, scope: plan.scope };
  }
}

function parametersAt(plan: Plan, { id }: PlanNode, index: number): string {
  switch (plan.format) {
    case 'graph':
      return `/nodes/${index}/parameters`;
    case 'pipeline':
      return childPointer('/tasks', id);
    case 'plan':
      return `/steps/${index}/inputs`;
  }
}
