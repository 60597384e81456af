// The functions and constants that an expression may name, and the methods of numbers. Pure: no clock, randomness or locale (S3).

import { chargeReading, toNumber, toPrimitive, toText } from './coercion.ts';
import { DATA_FUNCTIONS } from './data-functions.ts';
import {
  BYTES_PER_PROPERTY,
  type Evaluation,
  EvaluationError,
  MissingValueError,
  STEPS_PER_PROPERTY,
} from './evaluation.ts';

export type KnownFunction = (evaluation: Evaluation, args: unknown[]) => unknown;

const MATH_FUNCTIONS = [
  'abs',
  'acos',
  'acosh',
  'asin',
  'asinh',
  'atan',
  'atan2',
  'atanh',
  'cbrt',
  'ceil',
  'clz32',
  'cos',
  'cosh',
  'exp',
  'expm1',
  'floor',
  'fround',
  'hypot',
  'imul',
  'log',
  'log10',
  'log1p',
  'log2',
  'max',
  'min',
  'pow',
  'round',
  'sign',
  'sin',
  'sinh',
  'sqrt',
  'tan',
  'tanh',
  'trunc',
] as const satisfies readonly (keyof Math)[];

const VARIADIC: ReadonlySet<string> = new Set(['hypot', 'max', 'min']);

const MATH_CONSTANTS = ['E', 'LN10', 'LN2', 'LOG10E', 'LOG2E', 'PI', 'SQRT1_2', 'SQRT2'] as const;
const NUMBER_CONSTANTS = ['EPSILON', 'MAX_SAFE_INTEGER', 'MAX_VALUE', 'MIN_SAFE_INTEGER', 'MIN_VALUE'] as const;

export const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ...MATH_CONSTANTS.map((name) => [`Math.${name}`, Math[name]] as const),
  ...NUMBER_CONSTANTS.map((name) => [`Number.${name}`, Number[name]] as const),
]);

export const FUNCTIONS: ReadonlyMap<string, KnownFunction> = new Map<string, KnownFunction>([
  ...MATH_FUNCTIONS.map(
    (name) =>
      [
        `Math.${name}`,
        ofPrimitives(Math[name], VARIADIC.has(name) ? Number.POSITIVE_INFINITY : Math[name].length),
      ] as const,
  ),
  ['Array.isArray', (_, [value]) => Array.isArray(value)],
  ['Boolean', (_, [value]) => Boolean(value)],
  ['JSON.stringify', stringify],
  ['Number', ofPrimitives(Number)],
  ['Number.isFinite', (_, [value]) => Number.isFinite(value)],
  ['Number.isInteger', (_, [value]) => Number.isInteger(value)],
  ['Number.isNaN', (_, [value]) => Number.isNaN(value)],
  ['Number.isSafeInteger', (_, [value]) => Number.isSafeInteger(value)],
  ['Number.parseFloat', ofPrimitives(Number.parseFloat)],
  ['Number.parseInt', ofPrimitives(Number.parseInt)],
  ['Object.entries', objectEntries],
  ['Object.keys', (evaluation, [value]) => keysOf(evaluation, value)],
  ['Object.values', objectValues],
  ['String', (evaluation, args) => (args.length === 0 ? '' : toText(evaluation, args[0]))],
  ['encodeURIComponent', encodeForUrl],
  ['isFinite', (evaluation, [value]) => Number.isFinite(toNumber(evaluation, value))],
  ['isNaN', (evaluation, [value]) => Number.isNaN(toNumber(evaluation, value))],
  ['parseFloat', ofPrimitives(Number.parseFloat)],
  ['parseInt', ofPrimitives(Number.parseInt)],
  ...DATA_FUNCTIONS,
]);

/** Functions that turn any value into a text or a number. */
export const CONVERTING: ReadonlySet<string> = new Set([
  ...MATH_FUNCTIONS.map((name) => `Math.${name}`),
  'Number',
  'Number.parseFloat',
  'Number.parseInt',
  'String',
  'encodeURIComponent',
  'parseFloat',
  'parseInt',
]);

/** Converts only the arguments that the function reads. */
function ofPrimitives(native: (...args: never[]) => unknown, arity = native.length): KnownFunction {
  return (evaluation, args) => {
    evaluation.work(args.length);
    const primitives = args.slice(0, arity).map((value) => chargeReading(evaluation, toPrimitive(evaluation, value)));
    return Reflect.apply(native, undefined, primitives);
  };
}

/** One UTF-16 unit becomes at most three bytes, and each of them `%XX`. */
const ENCODED_CHARACTERS_PER_UNIT = 9;

function encodeForUrl(evaluation: Evaluation, [value]: unknown[]): string {
  if (value === undefined && evaluation.purpose === 'template') throw new MissingValueError('The text is undefined');
  const text = toText(evaluation, value);
  evaluation.build(text.length * ENCODED_CHARACTERS_PER_UNIT);
  if (!text.isWellFormed()) throw new EvaluationError('The text ends or begins with half a character');
  return encodeURIComponent(text);
}

/** Listing the keys of a large object takes as long as visiting them, so it is charged. */
function keysOf(evaluation: Evaluation, value: unknown): string[] {
  if (value == null) throw new EvaluationError(`Cannot list the keys of ${value}`);
  if (Array.isArray(value) || typeof value === 'string') {
    evaluation.buildList(value.length);
    return Object.keys(value);
  }
  const keys = Object.keys(value as object);
  evaluation.buildList(keys.length);
  evaluation.step(keys.length * STEPS_PER_PROPERTY);
  return keys;
}

function objectValues(evaluation: Evaluation, [value]: unknown[]): unknown[] {
  const object = Object(value) as Record<string, unknown>;
  return keysOf(evaluation, value).map((key) => object[key]);
}

function objectEntries(evaluation: Evaluation, [value]: unknown[]): unknown[] {
  const object = Object(value) as Record<string, unknown>;
  const keys = keysOf(evaluation, value);
  evaluation.build(keys.length * BYTES_PER_PROPERTY);
  return keys.map((key) => [key, object[key]]);
}

const MAX_INDENT = 10;

function stringify(evaluation: Evaluation, [value, replacer, space]: unknown[]): string | undefined {
  if (typeof replacer === 'object' && replacer !== null)
    throw new EvaluationError('JSON.stringify takes no replacer; pass null');
  const indent = typeof space === 'number' || typeof space === 'string' ? space : undefined;
  chargeIndent(evaluation, value, indent, 0);
  evaluation.weigh(value);
  const text = JSON.stringify(value, null, indent) as string | undefined;
  evaluation.build(text === undefined ? 0 : text.length);
  return text;
}

/** Each line of an indented document repeats the indent once for every level above it. */
function chargeIndent(
  evaluation: Evaluation,
  value: unknown,
  indent: number | string | undefined,
  depth: number,
): void {
  if (!indent) return;
  evaluation.enterData(depth);
  evaluation.build(depth * MAX_INDENT);
  if (typeof value !== 'object' || value === null) return;
  for (const item of Object.values(value)) chargeIndent(evaluation, item, indent, depth + 1);
}

type NumberMethod = (evaluation: Evaluation, value: number, args: unknown[]) => unknown;

export const NUMBER_METHODS: ReadonlyMap<string, NumberMethod> = new Map<string, NumberMethod>([
  ['toExponential', ofNumber(Number.prototype.toExponential, chargeDigits)],
  ['toFixed', ofNumber(Number.prototype.toFixed, chargeDigits)],
  ['toPrecision', ofNumber(Number.prototype.toPrecision, chargeDigits)],
  ['toString', ofNumber(Number.prototype.toString, (evaluation, radix) => evaluation.step(radix === 10 ? 1 : 100))],
]);

/** Digits beyond the usual ones, and all digits of a base other than ten, are computed one by one. */
function chargeDigits(evaluation: Evaluation, digits: number): void {
  evaluation.step(Math.min(Math.max(1, digits), 100) / 2);
}

type DigitCharge = (evaluation: Evaluation, digits: number) => void;

function ofNumber(native: (this: number, digits?: number) => string, charge: DigitCharge): NumberMethod {
  return (evaluation, value, args) => {
    const given = args.slice(0, 1).map((digits) => toPrimitive(evaluation, digits));
    if (given[0] !== undefined) charge(evaluation, Number(given[0]) || 0);
    return Reflect.apply(native, value, given);
  };
}
