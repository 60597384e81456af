// Parses JSON with the place of every value, so that a problem can be shown where it was written. Stricter than JSON.parse in one
// point: a duplicate key is a problem, not a silent overwrite. Iterative, so depth costs no stack.

import { MAX_DEPTH, MAX_PARAMETER_DEPTH, MAX_VALUES } from '../../core/definition/limits.ts';
import { childPointer, pointerKeys } from '../../core/problem/pointer.ts';
import type { Problem } from '../../core/problem/problem.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface JsonSource {
  readonly value: unknown;
  /** The position of a pointer's value or key; for a missing value, that of its nearest parent. */
  locate(pointer: string, part: 'key' | 'value'): Span;
}

export type JsonSourceResult = { ok: true; source: JsonSource } | { ok: false; problems: (Problem & { span: Span })[] };

interface Entry {
  readonly pointer: string;
  readonly key: Span | null;
  readonly start: number;
  end: number;
  /** For an object or array; otherwise null. */
  readonly children: Map<string, Entry> | null;
  readonly isArray: boolean;
}

const SPACE = /[ \t\r\n]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** A value follows a value: the comma is missing. */
const BEGINS_A_VALUE = /["{[\w-]/;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

export function readJsonSource(text: string): JsonSourceResult {
  const scanner = new Scanner(text);
  const root = scanner.scan();
  if (root === null || scanner.problems.length > 0) return { ok: false, problems: scanner.problems };
  return { ok: true, source: { value: JSON.parse(text), locate: (pointer, part) => locate(root, pointer, part) } };
}

function locate(root: Entry, pointer: string, part: 'key' | 'value'): Span {
  let entry = root;
  let exact = true;
  for (const key of pointerKeys(pointer)) {
    const child = entry.children?.get(key);
    if (child === undefined) {
      exact = false;
      break;
    }
    entry = child;
  }
  // A whole object or array is marked at its key, because its text may be pages long.
  const byKey = part === 'key' || entry.children !== null || !exact;
  if (byKey && entry.key !== null) return entry.key;
  return entry.children === null ? entry : { start: entry.start, end: entry.start + 1 };
}

class Scanner {
  readonly problems: (Problem & { span: Span })[] = [];
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The root, or null after the first text that is not JSON. */
  scan(): Entry | null {
    const open: Entry[] = [];
    this.#skipSpace();
    let root: Entry | null = null;
    for (let key: Span | null = null; ; ) {
      const entry = this.#value(open, key);
      if (entry === null) return null;
      root ??= entry;
      if (entry.children !== null) {
        open.push(entry);
        if (open.length > MAX_DEPTH + 1) return this.#tooDeep(entry);
      }
      const next = this.#next(open, entry.children !== null);
      if (next === 'failed') return null;
      if (next === 'end') return root;
      key = next;
    }
  }

  #value(open: readonly Entry[], key: Span | null): Entry | null {
    if (++this.#values > MAX_VALUES) return this.#fail('TOO_LARGE', `the file has more than ${MAX_VALUES} values`);
    const parent = open.at(-1);
    const name = parent?.isArray ? String(parent.children!.size) : key === null ? '' : this.#decode(key);
    const pointer = parent === undefined ? '' : childPointer(parent.pointer, name);
    const start = this.#at;
    const character = this.#text[start];
    const isArray = character === '[';
    const isContainer = isArray || character === '{';
    if (isContainer) this.#at++;
    else if (!this.#string() && !this.#match(SCALAR)) return this.#unexpected('a value');
    const entry: Entry = { pointer, key, start, end: this.#at, children: isContainer ? new Map() : null, isArray };
    if (key !== null && parent!.children!.has(name)) {
      this.#report(
        'DUPLICATE_KEY',
        pointer,
        `the key \`${name}\` stands twice in this object`,
        key,
        'remove one of them',
      );
    }
    parent?.children?.set(name, entry);
    return entry;
  }

  /** The key of the next value (null in arrays), after a value or a freshly opened container. */
  #next(open: Entry[], opened: boolean): Span | null | 'end' | 'failed' {
    let first = opened;
    for (;;) {
      this.#skipSpace();
      const container = open.at(-1);
      const character = this.#text[this.#at];
      if (container === undefined) {
        if (character === undefined) return 'end';
        this.#unexpected('the end of the file');
        return 'failed';
      }
      if (character === (container.isArray ? ']' : '}')) {
        container.end = ++this.#at;
        open.pop();
        first = false;
        continue;
      }
      if (!first && !this.#separator(container)) return 'failed';
      return container.isArray ? null : this.#key();
    }
  }

  #separator(container: Entry): boolean {
    const closing = container.isArray ? ']' : '}';
    if (this.#text[this.#at] !== ',') {
      this.#unexpected(`\`,\` or \`${closing}\``, BEGINS_A_VALUE.test(this.#text.slice(this.#at, this.#at + 1)));
      return false;
    }
    const comma = this.#at++;
    this.#skipSpace();
    if (this.#text[this.#at] !== closing) return true;
    const span = { start: comma, end: comma + 1 };
    this.#report('NOT_JSON', '', `a comma before \`${closing}\` is not allowed`, span, 'remove the comma');
    return false;
  }

  #key(): Span | 'failed' {
    const start = this.#at;
    if (!this.#string()) {
      this.#unexpected('a key in double quotes');
      return 'failed';
    }
    const key = { start, end: this.#at };
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') {
      this.#unexpected('`:` after the key');
      return 'failed';
    }
    this.#at++;
    this.#skipSpace();
    return key;
  }

  /** A loop instead of a pattern: patterns run out of stack on strings of megabytes. */
  #string(): boolean {
    const start = this.#at;
    if (this.#text[start] !== '"') return false;
    for (this.#at++; this.#at < this.#text.length; ) {
      const character = this.#text[this.#at]!;
      if (character === '"') {
        this.#at++;
        return true;
      }
      if (character < ' ') break;
      if (character !== '\\') this.#at++;
      else if (!this.#match(ESCAPE)) break;
    }
    this.#at = start;
    return false;
  }

  #decode(key: Span): string {
    return JSON.parse(this.#text.slice(key.start, key.end)) as string;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #unexpected(expected: string, lacksComma = false): null {
    const character = this.#text.slice(this.#at, this.#at + 1);
    const found = character === '' ? 'the file ends here' : `\`${character}\` is not JSON`;
    const suggestion = lacksComma ? 'put a comma after the value before this one' : hint(character);
    return this.#fail('NOT_JSON', `${found}: expected ${expected}`, suggestion);
  }

  #tooDeep(entry: Entry): null {
    this.#at = entry.start;
    return this.#fail('TOO_DEEP', `nested too deeply: parameters may be ${MAX_PARAMETER_DEPTH} levels deep`);
  }

  #fail(code: string, message: string, suggestion?: string): null {
    const end = Math.min(this.#at + 1, this.#text.length);
    this.#report(code, '', message, { start: this.#at, end }, suggestion);
    return null;
  }

  #report(code: string, path: string, message: string, span: Span, suggestion?: string): void {
    this.problems.push({ code, path, message, span, ...(suggestion === undefined ? {} : { suggestion }) });
  }
}

function hint(character: string): string | undefined {
  if (character === "'") return 'use double quotes';
  if (character === '/' || character === '#') return 'JSON has no comments';
  return character === '"' ? 'close the string with `"`, and write a line break inside it as \\n' : undefined;
}
