// Evaluates expressions: values for templates and actions, booleans for conditions. Evaluation is total and bounded (S4): the
// same expression and scope give the same result everywhere, and every failure is an EvaluationError.

import type { Expr } from './ast.ts';
import {
  DEFAULT_LIMITS,
  Evaluation,
  EvaluationError,
  type Limits,
  MissingValueError,
  type Scope,
  type Spend,
} from './evaluation.ts';
import { explainMissing, type WhyMissing } from './missing.ts';
import { compiled } from './program.ts';

/** Throws EvaluationError and nothing else. The result is built from JSON, and may be or contain `undefined` or NaN. */
export function evaluate(expr: Expr, scope: Scope, limits: Limits = DEFAULT_LIMITS): unknown {
  return evaluateWithin(new Evaluation(scope, limits, 'value'), expr);
}

/** Never throws. A condition that fails or exceeds its budget is false, with a warning that gives the reason. */
export function evaluateCondition(
  expr: Expr,
  scope: Scope,
  limits: Limits = DEFAULT_LIMITS,
  spend?: Spend,
  why?: WhyMissing,
): { value: boolean; warning?: string } {
  const evaluation = new Evaluation(scope, limits, 'condition');
  try {
    return { value: Boolean(run(evaluation, expr)) };
  } catch (error) {
    return { value: false, warning: explain(error as EvaluationError, expr, scope, why) };
  } finally {
    spend?.(evaluation.effort);
  }
}

function explain(error: EvaluationError, expr: Expr, scope: Scope, why?: WhyMissing): string {
  const missing = error instanceof MissingValueError ? explainMissing(expr, scope, why) : undefined;
  return missing === undefined ? error.message : `${error.message}: ${missing}`;
}

/** For several expressions that share one budget, such as the pieces of a template. */
export function evaluateWithin(evaluation: Evaluation, expr: Expr): unknown {
  const builtBefore = evaluation.bytes;
  const value = run(evaluation, expr);
  // Data that only passes through is as large as it was when it came in. A value that was built here may contain the same part
  // many times, and must not explode when it is written out.
  if (evaluation.bytes > builtBefore && typeof value === 'object') evaluation.weigh(value);
  return value;
}

function run(evaluation: Evaluation, expr: Expr): unknown {
  try {
    const program = compiled(expr);
    evaluation.nest(program.height);
    evaluation.step(program.size);
    return program.run(evaluation);
  } catch (error) {
    if (error instanceof EvaluationError) throw error;
    // JavaScript's own refusals: `'a'.repeat(-1)`, `(1).toFixed(1000)`.
    throw new EvaluationError((error as Error).message);
  }
}
