// Says, after an evaluation found nothing, which path of the scope was the first to lead nowhere, and what was near it.
// Done afterwards from the references, so that evaluation itself carries no bookkeeping.

import type { Expr } from './ast.ts';
import type { Scope } from './evaluation.ts';
import { readMember } from './member.ts';
import { nearMiss } from './near-miss.ts';
import { pathText, references } from './references.ts';

/** E.g. "`context.data['get-item'].itms` is missing; did you mean `items`?" */
export function explainMissing(expr: Expr, scope: Scope): string | undefined {
  for (const reference of references(expr)) {
    if (reference.guarded) continue;
    const explanation = explainPath(reference.path, scope);
    if (explanation) return explanation;
  }
  return undefined;
}

function explainPath(path: readonly (string | number)[], scope: Scope): string | undefined {
  let value: unknown = scope;
  for (const [index, key] of path.entries()) {
    if (value === null) return `\`${pathText(path.slice(0, index))}\` is null, so it has no \`${key}\``;
    const next = readMember(value, key);
    if (next === undefined) return `\`${pathText(path.slice(0, index + 1))}\` is missing${suggestion(value, key)}`;
    value = next;
  }
  return undefined;
}

function suggestion(parent: unknown, key: string | number): string {
  if (typeof parent !== 'object' || Array.isArray(parent)) return '';
  const near = nearMiss(String(key), Object.keys(parent as object));
  return near === undefined ? '' : `; did you mean \`${near}\`?`;
}
