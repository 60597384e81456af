// Renders a compiled template against a scope. Strict: a missing value is an error that names it, never an empty text in
// someone's API, unless the installation allows that. Pipelines are always strict. All pieces share one budget (S4). Pure; throws
// TemplateError and nothing else.

import type { Expr } from '../expression/ast.ts';
import { evaluateWithin } from '../expression/evaluate.ts';
import {
  DEFAULT_LIMITS,
  Evaluation,
  EvaluationError,
  type Limits,
  MissingValueError,
  type Scope,
  type Spend,
} from '../expression/evaluation.ts';
import { readMember, writeMember } from '../expression/member.ts';
import { explainMissing, type WhyMissing } from '../expression/missing.ts';
import { references } from '../expression/references.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { type Path, pieces } from './pieces.ts';
import type { Piece, Template } from './template.ts';

export class TemplateError extends Error {
  readonly code = 'TEMPLATE_ERROR';
  /** The expression, as written between the braces. */
  readonly source: string;
  /** The path of the string inside the parameters. */
  readonly path: Path;

  constructor(message: string, source: string, path: Path) {
    super(message);
    this.name = 'TemplateError';
    this.source = source;
    this.path = path;
  }
}

/** The installation's options for graphs and plans. */
export interface TemplateStyle {
  /** The text of null inside a longer text; null: null is refused there. */
  readonly nullText: string | null;
  /** false: a missing value counts as null. */
  readonly strict: boolean;
}

export const STRICT_STYLE: TemplateStyle = { nullText: '', strict: true };
/** `DELETE /orders/{{trigger.body.id}}` must not become `DELETE /orders/`. */
const PIPELINE_STYLE: TemplateStyle = { nullText: null, strict: true };

class Rendering extends Evaluation {
  readonly style: TemplateStyle;

  constructor(scope: Scope, limits: Limits, style: TemplateStyle) {
    super(scope, limits, 'template');
    this.style = style;
  }

  styleOf({ expr }: Piece): TemplateStyle {
    return expr.op === 'pipeline' ? PIPELINE_STYLE : this.style;
  }
}

interface RenderOptions {
  readonly style?: TemplateStyle | undefined;
  readonly spend?: Spend | undefined;
  readonly why?: WhyMissing | undefined;
}

export function renderTemplate(
  template: Template,
  scope: Scope,
  limits: Limits = DEFAULT_LIMITS,
  { style = STRICT_STYLE, spend, why }: RenderOptions = {},
): Json {
  const evaluation = new Rendering(scope, limits, style);
  try {
    return render(template, evaluation);
  } catch (error) {
    const { piece, cause } = error as PieceFailure;
    // The path is looked up only after a failure; rendering does not track it.
    const path = pieces(template).find((found) => found.piece === piece)!.path;
    throw new TemplateError(explainFailure(cause, piece, scope, why), piece.source, path);
  } finally {
    spend?.(evaluation.effort);
  }
}

class PieceFailure extends Error {
  readonly piece: Piece;
  override readonly cause: EvaluationError;

  constructor(piece: Piece, cause: EvaluationError) {
    super();
    this.piece = piece;
    this.cause = cause;
  }
}

function render(template: Template, evaluation: Rendering): Json {
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'value':
      return attempt(template.piece, evaluation, pieceValue);
    case 'text':
      return template.parts
        .map((part) => (typeof part === 'string' ? part : attempt(part, evaluation, pieceText)))
        .join('');
    case 'array':
      return template.items.map((item) => render(item, evaluation));
    case 'object': {
      const rendered: JsonObject = {};
      for (const [key, item] of template.entries) writeMember(rendered, key, render(item, evaluation));
      return rendered;
    }
  }
}

function attempt<T>(piece: Piece, evaluation: Rendering, use: (piece: Piece, evaluation: Rendering) => T): T {
  try {
    return use(piece, evaluation);
  } catch (error) {
    throw new PieceFailure(piece, error as EvaluationError);
  }
}

/** undefined only where the purpose allows it. */
function evaluatedPiece(piece: Piece, evaluation: Rendering): unknown {
  if (evaluation.styleOf(piece).strict) return evaluateWithin(evaluation, piece.expr);
  try {
    return evaluateWithin(evaluation, piece.expr) ?? null;
  } catch (error) {
    if (error instanceof MissingValueError) return null;
    throw error;
  }
}

function pieceValue(piece: Piece, evaluation: Rendering): Json {
  const builtBefore = evaluation.bytes;
  const value = evaluatedPiece(piece, evaluation);
  // A value that only passed through came from JSON. A value that was built here has been weighed, so walking it is safe.
  if (typeof value !== 'object' || evaluation.bytes > builtBefore) checkJson(value);
  return value as Json;
}

function checkJson(value: unknown): void {
  if (value === undefined) throw new MissingValueError('The value is undefined; give a default with `??`');
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new EvaluationError(`The value is ${value}, which JSON cannot hold`);
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) checkJson(item);
}

function pieceText(piece: Piece, evaluation: Rendering): string {
  const value = evaluatedPiece(piece, evaluation);
  const { nullText } = evaluation.styleOf(piece);
  // Where null is refused, NaN is refused too.
  if (nullText === null && typeof value === 'number') checkJson(value);
  const text = value === null ? nullText : valueText(value, evaluation);
  if (text === null)
    throw new EvaluationError('it is null, and would leave a hole in the text; give a default with `??`');
  evaluation.build(text.length);
  return text;
}

function valueText(value: unknown, evaluation: Evaluation): string {
  if (value === undefined) checkJson(value);
  if (typeof value !== 'object') return String(value);
  evaluation.weigh(value);
  checkJson(value);
  return JSON.stringify(value);
}

/** Why a piece could not be rendered, in words its author can act on. Pipelines get the exact messages of docs/pipelines.md. */
function explainFailure(error: EvaluationError, { expr, source }: Piece, scope: Scope, why?: WhyMissing): string {
  const isMissing = error instanceof MissingValueError;
  const missing = isMissing ? explainMissing(expr, scope, why) : undefined;
  if (expr.op !== 'pipeline') return `${missing ?? error.message} (in {{ ${source} }})`;
  const truncation = isMissing ? explainTruncation(expr, scope) : undefined;
  if (truncation !== undefined) return truncation;
  return `Failed to resolve {{${source}}}${missing === undefined ? `: ${error.message}` : ''}`;
}

/** A response over the limit is kept as cut-off text and not parsed, so it has no fields. Messages write a path with dots, however odd its names. */
function explainTruncation(expr: Expr, scope: Scope): string | undefined {
  for (const { path } of references(expr)) {
    const [root, task, ...field] = path;
    if (root !== 'tasks' || field[0] !== 'body' || field.length < 2) continue;
    if (!isTruncated(scope, task!)) continue;
    return `Cannot read '${field.join('.')}' because the response from '${task}' exceeded the 256KB limit and was truncated`;
  }
  return undefined;
}

function isTruncated(scope: Scope, task: string | number): boolean {
  const response = readMember(readMember(scope, 'tasks') ?? {}, task);
  return readMember(response ?? {}, 'is_truncated') === true;
}
