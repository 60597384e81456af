// Array methods that only read. None changes its array: `sort` and `reverse` work on a copy. Each method charges for the list it
// is about to make or search (S4). A slice of an existing list cannot be larger than that list, so it is charged afterwards.

import { chargeLookup, joinList, toNumber, toPrimitive, toText } from './coercion.ts';
import { type Evaluation, EvaluationError } from './evaluation.ts';

type List = readonly unknown[];
type ArrayMethod = (evaluation: Evaluation, list: List, args: unknown[]) => unknown;

export const ARRAY_METHODS: ReadonlyMap<string, ArrayMethod> = new Map<string, ArrayMethod>([
  ['at', (evaluation, list, [index]) => list.at(toNumber(evaluation, index))],
  ['concat', concat],
  ['flat', flat],
  ['includes', search(Array.prototype.includes)],
  ['indexOf', search(Array.prototype.indexOf)],
  ['join', join],
  ['lastIndexOf', search(Array.prototype.lastIndexOf)],
  ['reverse', reversed],
  ['slice', slice],
  ['toReversed', reversed],
  ['toString', (evaluation, list) => toText(evaluation, list)],
]);

function concat(evaluation: Evaluation, list: List, args: unknown[]): unknown[] {
  const total = args.reduce<number>((sum, part) => sum + (Array.isArray(part) ? part.length : 1), list.length);
  evaluation.buildList(total);
  return list.concat(...args);
}

function flat(evaluation: Evaluation, list: List, [depth]: unknown[]): unknown[] {
  const levels = depth === undefined ? 1 : Math.trunc(toNumber(evaluation, depth)) || 0;
  const out: unknown[] = [];
  flattenInto(evaluation, out, list, levels, 0);
  return out;
}

function flattenInto(evaluation: Evaluation, out: unknown[], list: List, levels: number, depth: number): void {
  evaluation.enterData(depth);
  evaluation.buildList(list.length);
  for (const item of list) {
    if (depth < levels && Array.isArray(item)) flattenInto(evaluation, out, item, levels, depth + 1);
    else out.push(item);
  }
}

type NativeSearch = (this: unknown[], needle: unknown, from?: number) => unknown;

function search(method: NativeSearch): ArrayMethod {
  return (evaluation, list, [needle, ...from]) => {
    chargeLookup(evaluation, needle, list.length);
    const start = from.slice(0, 1).map((index) => toPrimitive(evaluation, index));
    return Reflect.apply(method, list, [needle, ...start]);
  };
}

function join(evaluation: Evaluation, list: List, [separator]: unknown[]): string {
  return joinList(evaluation, list, separator === undefined ? ',' : toText(evaluation, separator), 0);
}

function reversed(evaluation: Evaluation, list: List): unknown[] {
  evaluation.buildList(list.length);
  return list.toReversed();
}

function slice(evaluation: Evaluation, list: List, args: unknown[]): unknown[] {
  const [start, end] = args.slice(0, 2).map((index) => toPrimitive(evaluation, index) as number | undefined);
  const part = list.slice(start, end);
  evaluation.buildList(part.length);
  return part;
}

/** Calls an arrow function of the expression, and charges for the call. */
export type Callback = (first: unknown, second: unknown, third: unknown, fourth?: unknown) => unknown;
type CallbackMethod = (evaluation: Evaluation, list: List, callback: Callback, args: unknown[]) => unknown;

/** `args` are the arguments after the callback. */
export const CALLBACK_METHODS: ReadonlyMap<string, CallbackMethod> = new Map<string, CallbackMethod>([
  ['every', (_, list, callback) => list.every((item, index) => callback(item, index, list))],
  ['filter', filter],
  ['find', (_, list, callback) => list.find((item, index) => callback(item, index, list))],
  ['findIndex', (_, list, callback) => list.findIndex((item, index) => callback(item, index, list))],
  ['findLast', (_, list, callback) => list.findLast((item, index) => callback(item, index, list))],
  ['findLastIndex', (_, list, callback) => list.findLastIndex((item, index) => callback(item, index, list))],
  ['flatMap', flatMap],
  ['map', map],
  ['reduce', (_, list, callback, args) => fold(list, callback, args, false)],
  ['reduceRight', (_, list, callback, args) => fold(list, callback, args, true)],
  ['some', (_, list, callback) => list.some((item, index) => callback(item, index, list))],
]);

function filter(evaluation: Evaluation, list: List, callback: Callback): unknown[] {
  const kept = list.filter((item, index) => callback(item, index, list));
  evaluation.buildList(kept.length);
  return kept;
}

function map(evaluation: Evaluation, list: List, callback: Callback): unknown[] {
  evaluation.buildList(list.length);
  return list.map((item, index) => callback(item, index, list));
}

function flatMap(evaluation: Evaluation, list: List, callback: Callback): unknown[] {
  const mapped = map(evaluation, list, callback);
  const out: unknown[] = [];
  flattenInto(evaluation, out, mapped, 1, 0);
  return out;
}

function fold(list: List, callback: Callback, args: unknown[], fromRight: boolean): unknown {
  const last = list.length - 1;
  const at = (step: number) => (fromRight ? last - step : step);
  if (args.length === 0 && list.length === 0)
    throw new EvaluationError('reduce of an empty array needs an initial value');
  let step = args.length === 0 ? 1 : 0;
  let result = args.length === 0 ? list[at(0)] : args[0];
  for (; step < list.length; step++) result = callback(result, list[at(step)], at(step), list);
  return result;
}

/** `sort` and `toSorted`, with or without a callback. `undefined` comes last, as in JavaScript. */
export function sorted(evaluation: Evaluation, list: List, callback: Callback | undefined): unknown[] {
  evaluation.buildList(list.length);
  if (callback) return list.toSorted((left, right) => toNumber(evaluation, callback(left, right, undefined)));
  if (list.length < 2) return [...list];
  const keyed = list.filter((item) => item !== undefined).map((item) => ({ item, key: toText(evaluation, item) }));
  const characters = keyed.reduce((sum, { key }) => sum + key.length + 1, 0);
  evaluation.work(characters * Math.ceil(Math.log2(list.length + 1)));
  evaluation.buildList(keyed.length);
  keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return [...keyed.map(({ item }) => item), ...list.filter((item) => item === undefined)];
}

export const SORT_METHODS: ReadonlySet<string> = new Set(['sort', 'toSorted']);
