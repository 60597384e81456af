// The operators on two values, exactly as JavaScript computes them on data. Arithmetic and comparison see primitives only.

import type { BinaryOperator, UnaryOperator } from './ast.ts';
import { looseEquals, strictEquals, toKey, toNumber, toPrimitive } from './coercion.ts';
import { type Evaluation, EvaluationError } from './evaluation.ts';

type Binary = (evaluation: Evaluation, left: unknown, right: unknown) => unknown;

export const BINARY: { readonly [operator in BinaryOperator]: Binary } = {
  '-': numeric((left, right) => left - right),
  '*': numeric((left, right) => left * right),
  '/': numeric((left, right) => left / right),
  '%': numeric((left, right) => left % right),
  '**': numeric((left, right) => left ** right),
  '==': looseEquals,
  '!=': (evaluation, left, right) => !looseEquals(evaluation, left, right),
  '===': strictEquals,
  '!==': (evaluation, left, right) => !strictEquals(evaluation, left, right),
  '<': ordered((left, right) => left < right),
  '<=': ordered((left, right) => left <= right),
  '>': ordered((left, right) => left > right),
  '>=': ordered((left, right) => left >= right),
  in: hasKey,
};

/**
 * In pipelines null has no place in an order. JavaScript takes it for 0, and a step that was never reached
 * (`status_code: null`) would pass for one with `status_code < 400`.
 */
export const KNOWN_ORDER: { readonly [operator in BinaryOperator]?: Binary } = {
  '<': unlessNothing(BINARY['<']),
  '<=': unlessNothing(BINARY['<=']),
  '>': unlessNothing(BINARY['>']),
  '>=': unlessNothing(BINARY['>=']),
};

/** Those that make a number of whatever they get. */
export const ARITHMETIC: ReadonlySet<BinaryOperator | UnaryOperator> = new Set(['+', '-', '*', '/', '%', '**']);

function unlessNothing(compare: Binary): Binary {
  return (evaluation, left, right) => left != null && right != null && compare(evaluation, left, right);
}

function numeric(compute: (left: number, right: number) => number): Binary {
  return (evaluation, left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return compute(left, right);
    return compute(toNumber(evaluation, left), toNumber(evaluation, right));
  };
}

/** JavaScript compares two texts as texts, and anything else as numbers: what `<` does with primitives by itself. */
function ordered(compare: (left: number, right: number) => boolean): Binary {
  return (evaluation, left, right) => {
    return compare(toPrimitive(evaluation, left) as number, toPrimitive(evaluation, right) as number);
  };
}

function hasKey(evaluation: Evaluation, left: unknown, right: unknown): boolean {
  if (typeof right !== 'object' || right === null)
    throw new EvaluationError('The right side of `in` must be an object or an array');
  return Object.hasOwn(right, toKey(evaluation, left));
}

export const UNARY: { readonly [operator in UnaryOperator]: (evaluation: Evaluation, value: unknown) => unknown } = {
  '!': (_, value) => !value,
  '-': (evaluation, value) => -toNumber(evaluation, value),
  '+': toNumber,
  typeof: (_, value) => typeof value,
};

/** `left + right`. Of a longer sum only what is added counts as built: the partial results are not kept. */
export function add(evaluation: Evaluation, left: unknown, right: unknown, leftIsPartial: boolean): string | number {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  const leftPrimitive = toPrimitive(evaluation, left);
  const rightPrimitive = toPrimitive(evaluation, right);
  if (typeof leftPrimitive !== 'string' && typeof rightPrimitive !== 'string')
    return Number(leftPrimitive) + Number(rightPrimitive);
  const leftText = String(leftPrimitive);
  const rightText = String(rightPrimitive);
  evaluation.build(rightText.length + (leftIsPartial ? 0 : leftText.length));
  return leftText + rightText;
}
