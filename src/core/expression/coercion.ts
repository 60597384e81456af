// JavaScript's conversions, for data only: JSON values plus `undefined`, NaN and the infinities. An object becomes text without
// calling a method that the data could name (`toString`, `valueOf`, `toJSON`): such a key holds no function, so JavaScript throws
// a TypeError and so do we. Objects without a prototype count as plain objects (S3, S8).

import { type Evaluation, EvaluationError } from './evaluation.ts';

type Primitive = string | number | boolean | null | undefined;

/** Shorter texts cost too little to count. */
const LONG_TEXT = 1024;
const SHORT_NAME = 32;
const CHARACTERS_PER_STEP = 16;

/**
 * The hint makes no difference for data: an array is its joined text, an object is `[object Object]`. The next operation on a
 * long text (reading a number, looking up a key) takes time in proportion to its length, so the length is charged here.
 */
export function toPrimitive(evaluation: Evaluation, value: unknown): Primitive {
  if (isLongText(value)) evaluation.work(value.length);
  if (typeof value !== 'object' || value === null) return value as Primitive;
  if (Array.isArray(value)) return joinList(evaluation, value, ',', 0);
  return objectText(value);
}

export function toText(evaluation: Evaluation, value: unknown): string {
  return String(toPrimitive(evaluation, value));
}

export function toNumber(evaluation: Evaluation, value: unknown): number {
  return Number(chargeReading(evaluation, toPrimitive(evaluation, value)));
}

export function toKey(evaluation: Evaluation, value: unknown): string | number {
  return typeof value === 'number' ? value : chargeReading(evaluation, toText(evaluation, value));
}

/**
 * Charges for reading a text as a number or looking it up as a name. Both go character by character, slower than any native
 * loop.
 */
export function chargeReading<Value extends Primitive>(evaluation: Evaluation, value: Value): Value {
  if (typeof value === 'string' && value.length > SHORT_NAME) evaluation.step(value.length / CHARACTERS_PER_STEP);
  return value;
}

export function joinList(evaluation: Evaluation, list: readonly unknown[], separator: string, depth: number): string {
  evaluation.enterData(depth);
  evaluation.step(list.length);
  evaluation.buildList(list.length);
  evaluation.build(list.length * separator.length);
  const parts: string[] = [];
  for (const item of list) {
    const part = elementText(evaluation, item, depth);
    evaluation.build(part.length);
    parts.push(part);
  }
  return parts.join(separator);
}

function elementText(evaluation: Evaluation, item: unknown, depth: number): string {
  if (item == null) return '';
  if (Array.isArray(item)) return joinList(evaluation, item, ',', depth + 1);
  return typeof item === 'object' ? objectText(item) : String(item);
}

function objectText(value: object): string {
  if (Object.hasOwn(value, 'toString'))
    throw new EvaluationError('Cannot convert an object to a text: it has a key `toString`');
  return '[object Object]';
}

export function looseEquals(evaluation: Evaluation, left: unknown, right: unknown): boolean {
  const leftIsObject = typeof left === 'object' && left !== null;
  const rightIsObject = typeof right === 'object' && right !== null;
  if (leftIsObject === rightIsObject) return leftIsObject ? left === right : primitivesEqual(evaluation, left, right);
  const [object, primitive] = leftIsObject ? [left, right] : [right, left];
  if (primitive == null) return false;
  return primitivesEqual(evaluation, toPrimitive(evaluation, object), primitive);
}

/** Values of different types are equal when they are equal as numbers; null and undefined only equal each other. */
function primitivesEqual(evaluation: Evaluation, left: unknown, right: unknown): boolean {
  if (left == null || right == null) return left == null && right == null;
  if (typeof left === typeof right) return strictEquals(evaluation, left, right);
  return toNumber(evaluation, left) === toNumber(evaluation, right);
}

export function strictEquals(evaluation: Evaluation, left: unknown, right: unknown): boolean {
  chargeComparison(evaluation, left, right);
  return left === right;
}

function chargeComparison(evaluation: Evaluation, left: unknown, right: unknown): void {
  if (isLongText(left) && typeof right === 'string') evaluation.work(left.length);
}

/** Charges for looking for a value among `count` others. A long text may be compared with each of them to its end. */
export function chargeLookup(evaluation: Evaluation, needle: unknown, count: number): void {
  evaluation.work(isLongText(needle) ? count * needle.length : count);
}

function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length > LONG_TEXT;
}
