// `when.on` of an execution plan: a path such as `compile.output.metadata.changed` that the step's condition
// sees as `on`. It is put into the condition when that is compiled, read without error when part of it is missing, so
// that what runs is one expression like any other.

import type { Expr } from '../expression/ast.ts';
import type { Findings } from '../problem/problem.ts';
import type { Located } from './draft.ts';

const PATH = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d{1,9}\])*$/;
const PART = /[^.[\]]+/g;

/** The keys, the step first. */
export function parseOn(on: Located<string>, findings: Findings): readonly (string | number)[] | null {
  if (!PATH.test(on.value)) {
    const message = `"${on.value.slice(0, 100)}" is not a path from a step to a value`;
    findings.error('BAD_PATH', on.at, message, 'e.g. "compile.output.metadata.changed"');
    return null;
  }
  return on.value.match(PART)!.map((part, index) => (index > 0 && /^\d+$/.test(part) ? Number(part) : part));
}

export function bindOn(expr: Expr, path: readonly (string | number)[]): Expr {
  let value: Expr = { op: 'root', name: 'steps', start: 0, end: 0 };
  for (const key of path) value = { op: 'member', object: value, key, optional: true, start: 0, end: 0 };
  return replaceOn(expr, { op: 'chain', body: value }) as Expr;
}

/** The tree is plain JSON and shallow: the parser bounds its depth. */
function replaceOn(tree: unknown, replacement: Expr): unknown {
  if (Array.isArray(tree)) return tree.map((item) => replaceOn(item, replacement));
  if (tree === null || typeof tree !== 'object') return tree;
  if ('op' in tree && tree.op === 'root' && 'name' in tree && tree.name === 'on') return replacement;
  return Object.fromEntries(Object.entries(tree).map(([key, inner]) => [key, replaceOn(inner, replacement)]));
}
