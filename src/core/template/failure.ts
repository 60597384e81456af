// Why a piece of a template could not be rendered, in words its author can act on. Pipelines get the exact messages of docs/pipelines.md.

import type { Expr } from '../expression/ast.ts';
import { type EvaluationError, MissingValueError, type Scope } from '../expression/evaluation.ts';
import { readMember } from '../expression/member.ts';
import { explainMissing, type WhyMissing } from '../expression/missing.ts';
import { references } from '../expression/references.ts';
import type { Piece } from './template.ts';

export function explainFailure(
  error: EvaluationError,
  { expr, source }: Piece,
  scope: Scope,
  why?: WhyMissing,
): string {
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
