// An expression gives the same value as JavaScript, or both throw. Random expressions over random data are compared with a real
// engine.

import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expr } from './ast.ts';
import { evaluate, evaluateCondition } from './evaluate.ts';
import { EvaluationError } from './evaluation.ts';
import { expression, scopes } from './grammar.testing.ts';
import { parseExpression } from './parse.ts';

const RUNS = 4000;
const context = vm.createContext({});

type Outcome = { threw: false; value: unknown } | { threw: true; error: unknown };

function outcomeOf(run: () => unknown): Outcome {
  try {
    return { threw: false, value: run() };
  } catch (error) {
    return { threw: true, error };
  }
}

function parse(source: string): Expr {
  const parsed = parseExpression(source, { roots: ['a', 'b', 'c'], dialect: 'javascript' });
  if (!parsed.ok) throw new Error(`${source}: ${JSON.stringify(parsed.problems)}`);
  return parsed.expr;
}

function inJavaScript(source: string, scope: Record<string, unknown>): Outcome {
  const data = JSON.stringify(JSON.stringify(scope));
  return outcomeOf(() =>
    vm.runInContext(`'use strict'; { const { a, b, c } = JSON.parse(${data}); (${source}); }`, context),
  );
}

/** Exactly the same value, -0 and NaN included; only the realm of the prototypes may differ. */
function same(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return Object.is(left, right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [leftKeys, rightKeys] = [Object.keys(left), Object.keys(right)];
  return (
    leftKeys.join('\n') === rightKeys.join('\n') &&
    leftKeys.every((key) => same(left[key as keyof typeof left], right[key as keyof typeof right]))
  );
}

function isTooMuch(outcome: Outcome): boolean {
  return outcome.threw && (outcome.error as EvaluationError).code === 'BUDGET_EXCEEDED';
}

describe('the expression language compared with JavaScript', () => {
  test('an expression gives the value that JavaScript gives, or both throw', () => {
    fc.assert(
      fc.property(expression(3), scopes, (printer, scope) => {
        const source = printer({ forJavaScript: false, nullSafe: false });
        fc.pre(source.length < 10_000);
        const before = JSON.stringify(scope);
        const expr = parse(source);
        const ours = outcomeOf(() => evaluate(expr, scope));
        expect(JSON.stringify(scope)).toBe(before);
        fc.pre(!isTooMuch(ours));
        const theirs = inJavaScript(printer({ forJavaScript: true, nullSafe: false }), scope);
        if (theirs.threw) expect((theirs.error as Error).name).not.toBe('SyntaxError');
        if (ours.threw) expect(ours.error).toBeInstanceOf(EvaluationError);
        if (ours.threw !== theirs.threw)
          throw new Error(`${source}\nours ${describeOutcome(ours)}\ntheirs ${describeOutcome(theirs)}`);
        if (!ours.threw && !theirs.threw && !same(ours.value, theirs.value)) {
          throw new Error(`${source}\nours ${describeOutcome(ours)}\ntheirs ${describeOutcome(theirs)}`);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('a tree stored as JSON means the same, and the same in a condition', () => {
    fc.assert(
      fc.property(expression(2), scopes, (printer, scope) => {
        const expr = parse(printer({ forJavaScript: false, nullSafe: false }));
        const stored = JSON.parse(JSON.stringify(expr)) as Expr;
        expect(stored).toEqual(expr);
        const [first, second] = [outcomeOf(() => evaluate(expr, scope)), outcomeOf(() => evaluate(stored, scope))];
        expect(second.threw).toBe(first.threw);
        if (!first.threw && !second.threw) expect(same(first.value, second.value)).toBe(true);
        const condition = evaluateCondition(expr, scope);
        if (!isTooMuch(first)) expect(condition.value).toBe(!first.threw && Boolean(first.value));
        expect(condition.warning !== undefined).toBe(first.threw);
      }),
      { numRuns: 1000 },
    );
  });
});

function describeOutcome(outcome: Outcome): string {
  return outcome.threw ? `threw ${outcome.error}` : `gave ${typeof outcome.value} ${JSON.stringify(outcome.value)}`;
}
