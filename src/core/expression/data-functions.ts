// Functions over texts, lists and times for which JavaScript has no pure equivalent: times as data, JSON, base64, hashes, and
// lookups in large lists. No clock, randomness or locale (S3). Each charges for the data it is about to read and make (S4).

import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { formatTime, parseIso, toIso } from '../time/iso-time.ts';
import { toNumber, toText } from './coercion.ts';
import { BYTES_PER_PROPERTY, type Evaluation, EvaluationError, STEPS_PER_PROPERTY } from './evaluation.ts';

type DataFunction = (evaluation: Evaluation, args: unknown[]) => unknown;

export const DATA_FUNCTIONS: readonly (readonly [string, DataFunction])[] = [
  ['Date.parse', (evaluation, [text]) => parseIso(textOf(evaluation, text))],
  ['JSON.parse', parseJson],
  ['Object.fromEntries', fromEntries],
  ['base64Decode', base64Decode],
  ['base64Encode', base64Encode],
  ['formatTime', format],
  ['groupBy', (evaluation, args) => grouped(evaluation, args, true)],
  ['hmacSha256', hmacOf],
  ['keyBy', (evaluation, args) => grouped(evaluation, args, false)],
  ['sha256', (evaluation, [text]) => bytesToHex(sha256(bytesOf(evaluation, text)))],
  ['toISO', (evaluation, [ms]) => writable(toIso(toNumber(evaluation, ms)))],
];

function textOf(evaluation: Evaluation, value: unknown): string {
  const text = toText(evaluation, value);
  evaluation.work(text.length);
  return text;
}

function writable(text: string | null): string {
  if (text === null)
    throw new EvaluationError('The time cannot be written: it is no number, or lies outside the years 0 to 9999');
  return text;
}

function format(evaluation: Evaluation, [ms, pattern, zone]: unknown[]): string {
  const text = textOf(evaluation, pattern ?? 'yyyy-MM-dd HH:mm:ss');
  evaluation.build(text.length * 2);
  const written = formatTime(toNumber(evaluation, ms), text, textOf(evaluation, zone ?? 'Z'));
  if (written === null)
    throw new EvaluationError(
      'formatTime takes milliseconds, a pattern such as "yyyy-MM-dd" and a fixed offset: "Z" or "+02:00", no name of a zone',
    );
  return written;
}

/** Parsed JSON can take many times the memory of its text. */
const BYTES_PER_CHARACTER = 16;

function parseJson(evaluation: Evaluation, [value]: unknown[]): unknown {
  const text = textOf(evaluation, value);
  evaluation.build(text.length * BYTES_PER_CHARACTER);
  evaluation.step(text.length / 8);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new EvaluationError('The text is not JSON');
  }
}

function fromEntries(evaluation: Evaluation, [list]: unknown[]): unknown {
  const entries = listOf(list, 'Object.fromEntries');
  charge(evaluation, entries.length);
  return Object.fromEntries(
    entries.map((entry) => {
      if (!Array.isArray(entry)) throw new EvaluationError('Object.fromEntries takes a list of [key, value]');
      return [toText(evaluation, entry[0]), entry[1]];
    }),
  );
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new EvaluationError(`${name} takes a list`);
  return value;
}

function charge(evaluation: Evaluation, count: number): void {
  evaluation.build(count * BYTES_PER_PROPERTY);
  evaluation.step(count * STEPS_PER_PROPERTY);
}

/** `groupBy(list, 'a.b')` gives lists by the value of each item at the path; `keyBy` gives the last item with each value. */
function grouped(evaluation: Evaluation, [list, path]: unknown[], many: boolean): unknown {
  const items = listOf(list, many ? 'groupBy' : 'keyBy');
  const names = textOf(evaluation, path).split('.');
  charge(evaluation, items.length * names.length);
  const groups = new Map<string, unknown[]>();
  for (const item of items) {
    const key = toText(evaluation, memberAt(item, names));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return Object.fromEntries([...groups].map(([key, group]) => [key, many ? group : group.at(-1)]));
}

function memberAt(item: unknown, names: readonly string[]): unknown {
  let value = item;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Hashing a byte takes longer than copying it. */
const STEPS_PER_HASHED_BYTE = 1 / 16;

function bytesOf(evaluation: Evaluation, value: unknown): Uint8Array {
  const bytes = encoded(evaluation, value);
  evaluation.step(100 + bytes.length * STEPS_PER_HASHED_BYTE);
  return bytes;
}

function encoded(evaluation: Evaluation, value: unknown): Uint8Array {
  const text = textOf(evaluation, value);
  evaluation.build(text.length * 3);
  if (!text.isWellFormed()) throw new EvaluationError('The text ends or begins with half a character');
  return utf8ToBytes(text);
}

function hmacOf(evaluation: Evaluation, [key, text]: unknown[]): string {
  return bytesToHex(hmac(sha256, bytesOf(evaluation, key), bytesOf(evaluation, text)));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Encodes the UTF-8 bytes of the text. */
function base64Encode(evaluation: Evaluation, [value]: unknown[]): string {
  const bytes = encoded(evaluation, value);
  evaluation.step(bytes.length / 4);
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const left = bytes.length - at;
    const bits = (a! << 16) | (b << 8) | c;
    text += ALPHABET[bits >> 18]! + ALPHABET[(bits >> 12) & 63]!;
    text += (left > 1 ? ALPHABET[(bits >> 6) & 63]! : '=') + (left > 2 ? ALPHABET[bits & 63]! : '=');
  }
  return text;
}

/** Also reads the URL-safe alphabet, with or without padding. */
function base64Decode(evaluation: Evaluation, [value]: unknown[]): string {
  const text = textOf(evaluation, value).replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  evaluation.build(text.length * 2);
  evaluation.step(text.length / 4);
  if (/[^A-Za-z0-9+/]/.test(text) || text.length % 4 === 1) throw new EvaluationError('The text is not base64');
  const escaped: string[] = [];
  for (let at = 0; at < text.length; at += 4) {
    const digits = [...text.slice(at, at + 4)].map((digit) => ALPHABET.indexOf(digit));
    const bits = digits.reduce((all, digit, place) => all | (digit << (18 - 6 * place)), 0);
    for (let byte = 0; byte < digits.length - 1; byte++) {
      escaped.push(`%${((bits >> (16 - 8 * byte)) & 255).toString(16).padStart(2, '0')}`);
    }
  }
  try {
    return decodeURIComponent(escaped.join(''));
  } catch {
    throw new EvaluationError('The bytes are not a text');
  }
}
