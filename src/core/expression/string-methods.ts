// Methods of texts. Each charges for the text it is about to make or search (S4), then calls JavaScript's own method. No locale,
// no regular expressions, nothing that depends on the machine.

import { toPrimitive } from './coercion.ts';
import type { Evaluation } from './evaluation.ts';

type StringMethod = (evaluation: Evaluation, text: string, args: unknown[]) => unknown;

/** Searching for a long needle can cost the needle's length at every position, unless the engine takes a shortcut. */
const NEEDLE_SHORTCUT = 64;

/** Upper-casing can make a text three times as long ('ﬃ' becomes 'FFI'). */
const CASE_GROWTH = 3;

/** The last column is the number of arguments that the method reads. JavaScript does not convert the others. */
export const STRING_METHODS: ReadonlyMap<string, StringMethod> = new Map<string, StringMethod>([
  ['at', native(String.prototype.at, piece, 1)],
  ['charAt', native(String.prototype.charAt, piece, 1)],
  ['charCodeAt', native(String.prototype.charCodeAt, nothing, 1)],
  ['codePointAt', native(String.prototype.codePointAt, nothing, 1)],
  ['concat', native(String.prototype.concat, chargeConcat, Number.POSITIVE_INFINITY)],
  ['endsWith', native(String.prototype.endsWith, chargeScan, 2)],
  ['includes', native(String.prototype.includes, chargeSearch, 2)],
  ['indexOf', native(String.prototype.indexOf, chargeSearch, 2)],
  ['lastIndexOf', native(String.prototype.lastIndexOf, chargeSearch, 2)],
  ['padEnd', native(String.prototype.padEnd, chargePadding, 2)],
  ['padStart', native(String.prototype.padStart, chargePadding, 2)],
  ['repeat', native(String.prototype.repeat, chargeRepeat, 1)],
  ['replace', native(String.prototype.replace, chargeReplace, 2)],
  ['replaceAll', native(String.prototype.replaceAll, chargeReplaceAll, 2)],
  ['slice', native(String.prototype.slice, piece, 2)],
  ['split', native(String.prototype.split, chargeSplit, 2)],
  ['startsWith', native(String.prototype.startsWith, chargeScan, 2)],
  ['substring', native(String.prototype.substring, piece, 2)],
  ['toLowerCase', native(String.prototype.toLowerCase, chargeCase, 0)],
  ['toString', native(String.prototype.toString, nothing, 0)],
  ['toUpperCase', native(String.prototype.toUpperCase, chargeCase, 0)],
  ['trim', native(String.prototype.trim, chargeScan, 0)],
  ['trimEnd', native(String.prototype.trimEnd, chargeScan, 0)],
  ['trimStart', native(String.prototype.trimStart, chargeScan, 0)],
]);

type Charge = (evaluation: Evaluation, text: string, args: unknown[]) => void;
type NativeMethod = (this: string, ...args: never[]) => unknown;

/** The native method gets primitives only, so it has nothing to call. */
function native(method: NativeMethod, charge: Charge, arity: number): StringMethod {
  return (evaluation, text, args) => {
    const primitives = args.slice(0, arity).map((argument) => toPrimitive(evaluation, argument));
    charge(evaluation, text, primitives);
    return Reflect.apply(method, text, primitives);
  };
}

function nothing(): void {}

/** A part of a text shares its memory. */
function piece(evaluation: Evaluation): void {
  evaluation.build(16);
}

function chargeScan(evaluation: Evaluation, text: string): void {
  evaluation.work(text.length);
  piece(evaluation);
}

function chargeSearch(evaluation: Evaluation, text: string, [needle]: unknown[]): void {
  const length = Math.min(String(needle).length, text.length);
  evaluation.work(text.length + ((text.length - length) * length) / NEEDLE_SHORTCUT);
}

function chargeConcat(evaluation: Evaluation, text: string, args: unknown[]): void {
  evaluation.build(args.reduce<number>((sum, value) => sum + String(value).length, text.length));
}

function chargeRepeat(evaluation: Evaluation, text: string, [count]: unknown[]): void {
  evaluation.build(text.length * size(count));
}

function chargePadding(evaluation: Evaluation, text: string, [length]: unknown[]): void {
  evaluation.build(Math.max(text.length, size(length)));
}

function chargeCase(evaluation: Evaluation, text: string): void {
  evaluation.build(text.length * CASE_GROWTH);
}

function chargeSplit(evaluation: Evaluation, text: string, args: unknown[]): void {
  const pieces = args[0] === undefined ? 1 : occurrences(evaluation, text, String(args[0])) + 1;
  evaluation.buildList(pieces);
  evaluation.build(text.length);
}

function chargeReplace(evaluation: Evaluation, text: string, args: unknown[]): void {
  chargeReplacement(evaluation, text, args, 1);
}

function chargeReplaceAll(evaluation: Evaluation, text: string, args: unknown[]): void {
  chargeReplacement(evaluation, text, args, occurrences(evaluation, text, String(args[0])));
}

/** `$&`, `` $` `` and `$'` in a replacement stand for parts of the text. */
function chargeReplacement(evaluation: Evaluation, text: string, args: unknown[], count: number): void {
  chargeSearch(evaluation, text, args);
  const replacement = String(args[1]);
  const insertions = replacement.split('$').length - 1;
  evaluation.build(text.length + count * (replacement.length + insertions * text.length));
}

function occurrences(evaluation: Evaluation, text: string, needle: string): number {
  if (needle === '') return text.length + 1;
  chargeSearch(evaluation, text, [needle]);
  let count = 0;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) count++;
  return count;
}

/** A count that JavaScript refuses (negative, infinite) is passed on for JavaScript to refuse. */
function size(count: unknown): number {
  const number = Number(count);
  return number > 0 && number < Number.POSITIVE_INFINITY ? number : 0;
}
