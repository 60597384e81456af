// Reads a request's JSON before anything else: bounded depth and number of keys, no key that reaches a prototype (S8), no
// duplicate key. The text is scanned once for what JSON.parse would hide or suffer from.

import { isUtf8 } from 'node:buffer';
import { PawlError } from '../core/error/pawl-error.ts';
import { pointerOf } from '../core/problem/pointer.ts';

/** A workflow of 1,000 complete nodes is below this. */
export const JSON_LIMITS = { depth: 64, keys: 100_000 } as const;

/** JSON is UTF-8 (RFC 8259); invalid bytes would silently be replaced by other characters. */
export function jsonTextOf(bytes: Buffer, contentType = ''): string {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType) ?? [];
  if (!/^utf-?8$/i.test(charset)) {
    throw new PawlError('UNSUPPORTED_MEDIA_TYPE', `the body must be UTF-8, not ${charset.slice(0, 40)}`);
  }
  if (!isUtf8(bytes)) refuse('NOT_UTF8', 'the body is not UTF-8');
  return bytes.toString('utf8');
}

export function readJsonBody(text: string): unknown {
  const scanned = scan(text);
  if (scanned.depth > JSON_LIMITS.depth)
    refuse('TOO_DEEP', `the body is nested deeper than ${JSON_LIMITS.depth} levels`);
  if (scanned.keys > JSON_LIMITS.keys) refuse('TOO_LARGE', `the body has more than ${JSON_LIMITS.keys} keys`);
  const value = parse(text);
  const found: Found = { keys: 0, hasEndless: false };
  look(value, found);
  if (found.keys !== scanned.keys) {
    refuse('DUPLICATE_KEY', `the key \`${repeatedKey(text).slice(0, 100)}\` stands twice in one object`);
  }
  if (found.hasEndless) {
    refuse('NUMBER_OUT_OF_RANGE', 'the number is too large to be kept', pointerOf(placeOfEndless(value) ?? []));
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse('NOT_JSON', `the body is not JSON: ${(error as Error).message}`);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);

/** The depth of JSON, and the number of `:` outside strings, which is the number of all members. */
function scan(text: string): { depth: number; keys: number } {
  let depth = 0;
  let deepest = 0;
  let keys = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) keys++;
    else if (OPEN.has(code)) deepest = Math.max(deepest, ++depth);
    else if (CLOSE.has(code)) depth--;
  }
  return { depth: deepest, keys };
}

/** The first duplicate key. */
function repeatedKey(text: string): string {
  const open: Set<string>[] = [];
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      lastString = text.slice(at, end + 1);
      at = end;
    } else if (code === COLON) {
      const key = JSON.parse(lastString) as string;
      if (open.at(-1)!.has(key)) return key;
      open.at(-1)!.add(key);
    } else if (OPEN.has(code)) open.push(new Set());
    else if (CLOSE.has(code)) open.pop();
  }
  return '';
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

interface Found {
  keys: number;
  /** A number like 1e400, which JSON.parse reads as infinity and which would be written as null. */
  hasEndless: boolean;
}

/** Recursion is safe here: the depth has been checked. */
function look(value: unknown, found: Found): void {
  if (typeof value === 'number') found.hasEndless ||= !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) look(item, found);
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    if (key === '__proto__') refuse('FORBIDDEN_KEY', 'the name `__proto__` is not allowed');
    found.keys++;
    look(child, found);
  }
}

function placeOfEndless(value: unknown): (string | number)[] | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, child] of Object.entries(value)) {
    const place = placeOfEndless(child);
    if (place !== null) return [Array.isArray(value) ? Number(key) : key, ...place];
  }
  return null;
}

function refuse(code: string, message: string, path = ''): never {
  throw new PawlError('REQUEST_INVALID', path === '' ? message : `${path} ${message}`, [{ code, path, message }]);
}
