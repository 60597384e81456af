// Reads a definition from a file: size, encoding and JSON, each failure with its place. The core interprets the definition.

import { readFileSync, statSync } from 'node:fs';
import type { Problem } from '../../core/problem/problem.ts';
import { type JsonSource, readJsonSource, type Span } from './json-source.ts';
import { readStandardInput } from './standard-input.ts';
import { reasonUnread } from './unreadable.ts';

const MAX_FILE_BYTES = 10_000_000;
const STANDARD_INPUT = '-';

export interface DefinitionFile {
  readonly name: string;
  readonly text: string;
}

/** A problem with its place in the file's text. A problem of the whole file has no place. */
export type FileProblem = Problem & { span?: Span };

export type DefinitionText =
  | { kind: 'unreadable'; name: string; reason: string }
  | { kind: 'bad'; file: DefinitionFile; problems: FileProblem[] }
  | { kind: 'json'; file: DefinitionFile; source: JsonSource };

/** `-` is standard input. */
export function readDefinitionFile(path: string): DefinitionText {
  const bytes = readBytes(path);
  const name = path === STANDARD_INPUT ? 'standard input' : path;
  if (typeof bytes === 'string') return { kind: 'unreadable', name, reason: bytes };
  if (typeof bytes === 'number')
    return bad(name, 'FILE_TOO_LARGE', `the file has ${bytes} bytes; the limit is ${MAX_FILE_BYTES}`);
  const text = decode(bytes);
  if (text === null) return bad(name, 'NOT_JSON', 'the file is not UTF-8 text');
  const result = readJsonSource(text);
  const file = { name, text };
  if (result.ok) return { kind: 'json', file, source: result.source };
  return { kind: 'bad', file, problems: looksLikeYaml(text) ? result.problems.map(explainYaml) : result.problems };
}

/** The bytes, or the size if the file is too large, or the reason if it cannot be read. */
function readBytes(name: string): Buffer | number | string {
  try {
    if (name === STANDARD_INPUT) return limited(readStandardInput());
    const stats = statSync(name);
    if (stats.isDirectory()) return 'it is a directory';
    return stats.size > MAX_FILE_BYTES ? stats.size : readFileSync(name);
  } catch (error) {
    return reasonUnread(error);
  }
}

const limited = (bytes: Buffer): Buffer | number => (bytes.length > MAX_FILE_BYTES ? bytes.length : bytes);

/** Without a byte order mark; null when it is not UTF-8. */
function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function bad(name: string, code: string, message: string): DefinitionText {
  return { kind: 'bad', file: { name, text: '' }, problems: [{ code, path: '', message }] };
}

function looksLikeYaml(text: string): boolean {
  return /^(?:%YAML|---|#.*\n|\s*\n)*[ \t]*(?:- )?[A-Za-z_][\w-]*:(?:\s|$)/.test(text);
}

function explainYaml(problem: FileProblem): FileProblem {
  return { ...problem, suggestion: 'this looks like YAML; definitions are JSON, so convert it first' };
}
