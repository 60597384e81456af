// Refuses a template or its input with all problems at once, as WFENG005.

import { PawlError } from '../error/pawl-error.ts';
import type { Problem } from './problem.ts';

/** The message says the first; the details say all of them. */
export function templateRefusal(what: string, problems: readonly Problem[]): PawlError {
  const [first, ...more] = problems as [Problem, ...Problem[]];
  const place = first.line === undefined ? first.path : `line ${first.line}, column ${first.column}`;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return new PawlError('WFENG005', `${what}: ${first.message} (at ${place})${others}`, problems);
}

/** Prefixes paths: the finder of a problem does not know where its part is in the whole. */
export function below(base: string, problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => ({ ...problem, path: `${base}${problem.path}` }));
}
