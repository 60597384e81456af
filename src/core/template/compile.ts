// Compiles a JSON value with `{{ expression }}` in its strings into a Template. Collects every problem with the path of its
// string. Keys are never templates. A value without templates stays one literal.

import { type Dialect, type ExpressionProblem, parseExpression } from '../expression/parse.ts';
import { type Finding, problemAt } from '../expression/problem.ts';
import { type Reference, references } from '../expression/references.ts';
import type { Json } from '../json/json.ts';
import { allAtOnce, type Steps } from '../steps/steps.ts';
import { type Path, pieces } from './pieces.ts';
import { type Part, splitTemplate } from './split.ts';
import type { Piece, Template } from './template.ts';

export interface TemplateProblem extends ExpressionProblem {
  /** The path of the string inside the value; the problem's offsets are inside that string. */
  readonly path: Path;
}

export type CompileResult =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly problems: TemplateProblem[] };

interface Options {
  readonly roots: readonly string[];
  readonly dialect: Dialect;
  /** Whether a string must stay text: there, a single `{{ … }}` gives the text of its value instead of the value. */
  readonly isText?: (path: Path) => boolean;
}

const MAX_STRING_LENGTH = 64 * 1024;
const MAX_PIECES = 1000;
/** For one node's parameters or for the outputs, which are rendered in one go. */
const MAX_PIECES_IN_ALL = 10_000;
const MAX_DEPTH = 200;
const VALUES_PER_STEP = 2_000;

/** State of one compilation. */
interface Found {
  readonly problems: TemplateProblem[];
  pieces: number;
}

export function compileTemplate(value: Json, options: Options): CompileResult {
  return allAtOnce(compileTemplateInSteps(value, options));
}

/** Takes a step for each string that contains a template. */
export function* compileTemplateInSteps(value: Json, options: Options): Steps<CompileResult> {
  const found: Found = { problems: [], pieces: 0 };
  const template = yield* compileValue(value, [], options, found);
  const { problems } = found;
  return problems.length === 0 ? { ok: true, template } : { ok: false, problems };
}

function* compileValue(value: Json, path: Path, options: Options, found: Found): Steps<Template> {
  if (typeof value === 'string') {
    if (value.includes('{{')) yield;
    return compileString(value, path, options, found);
  }
  if (value === null || typeof value !== 'object') return { kind: 'literal', value };
  if (path.length >= MAX_DEPTH) {
    const finding = { code: 'TOO_DEEP', message: `Parameters can be nested ${MAX_DEPTH} levels deep` } as const;
    found.problems.push({ ...problemAt('', 0, 0, finding), path });
    return { kind: 'literal', value: null };
  }
  if (Array.isArray(value)) {
    const items: Template[] = [];
    for (const [index, item] of value.entries()) {
      if (index % VALUES_PER_STEP === VALUES_PER_STEP - 1) yield;
      items.push(
        isPlain(item) ? { kind: 'literal', value: item } : yield* compileValue(item, [...path, index], options, found),
      );
    }
    return items.every(isLiteral) ? { kind: 'literal', value } : { kind: 'array', items };
  }
  const entries: (readonly [string, Template])[] = [];
  for (const [key, item] of Object.entries(value)) {
    if (entries.length % VALUES_PER_STEP === VALUES_PER_STEP - 1) yield;
    entries.push([key, yield* compileValue(item, [...path, key], options, found)]);
  }
  return entries.every(([, item]) => isLiteral(item)) ? { kind: 'literal', value } : { kind: 'object', entries };
}

function isPlain(value: Json): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'string');
}

function isLiteral(template: Template): boolean {
  return template.kind === 'literal';
}

function compileString(value: string, path: Path, options: Options, found: Found): Template {
  const literal: Template = { kind: 'literal', value };
  if (!value.includes('{{')) return literal;
  const report = (start: number, finding: Finding) =>
    found.problems.push({ ...problemAt(value, start, value.length, finding), path });
  if (value.length > MAX_STRING_LENGTH) {
    report(0, { code: 'TOO_LONG', message: `A template can have at most ${MAX_STRING_LENGTH} characters` });
    return literal;
  }
  const split = splitTemplate(value);
  if (!split.ok) {
    report(split.start, split.finding);
    return literal;
  }
  if (split.parts.length > MAX_PIECES) {
    report(0, { code: 'TOO_MANY', message: `A template can have at most ${MAX_PIECES} pieces` });
    return literal;
  }
  const before = found.pieces;
  found.pieces += split.parts.length;
  if (found.pieces > MAX_PIECES_IN_ALL) {
    const message = `There can be at most ${MAX_PIECES_IN_ALL} pieces of templates in one place`;
    if (before <= MAX_PIECES_IN_ALL) report(0, { code: 'TOO_MANY', message, hint: 'pass the data as a whole' });
    return literal;
  }
  const parts = split.parts.map((part) => compilePart(part, value, path, options, found));
  const [first] = parts;
  const isAlone = parts.length === 1 && typeof first === 'object';
  return isAlone && options.isText?.(path) !== true ? { kind: 'value', piece: first } : { kind: 'text', parts };
}

function compilePart(part: Part, value: string, path: Path, options: Options, found: Found): string | Piece {
  if (part.kind === 'text') return part.text;
  const parsed = parseExpression(part.source, options);
  if (parsed.ok) return { source: part.source, expr: parsed.expr };
  for (const problem of parsed.problems) {
    found.problems.push({ ...problemAt(value, part.start + problem.start, part.start + problem.end, problem), path });
  }
  return '';
}

export type TemplateReference = Reference & {
  readonly source: string;
  readonly templatePath: Path;
};

/** Offsets are inside the piece's `source`. */
export function* templateReferences(template: Template): Generator<TemplateReference> {
  for (const { piece, path } of pieces(template)) {
    for (const reference of references(piece.expr)) yield { ...reference, source: piece.source, templatePath: path };
  }
}
