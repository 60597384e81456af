// Says, after an evaluation found nothing, which path of the scope was the first to lead nowhere, and what was near it.
// Done afterwards from the references, so that evaluation itself carries no bookkeeping.

import { nearMiss } from '../problem/near-miss.ts';
import type { Expr } from './ast.ts';
import type { Scope } from './evaluation.ts';
import { readMember } from './member.ts';
import { pathText, references } from './references.ts';

/** What whoever owns the scope knows about a path that leads nowhere. */
export type WhyMissing = (path: readonly (string | number)[]) => string | undefined;

/** E.g. "`context.data['get-item'].itms` is missing; did you mean `items`?" */
export function explainMissing(expr: Expr, scope: Scope, why?: WhyMissing): string | undefined {
  for (const reference of references(expr)) {
    if (reference.guarded) continue;
    const explanation = explainPath(reference.path, scope, why);
    if (explanation) return explanation;
  }
  return undefined;
}

function explainPath(path: readonly (string | number)[], scope: Scope, why?: WhyMissing): string | undefined {
  let value: unknown = scope;
  for (const [index, key] of path.entries()) {
    if (value === null) return `\`${pathText(path.slice(0, index))}\` is null, so it has no \`${key}\``;
    const next = readMember(value, key);
    if (next === undefined) {
      const missing = path.slice(0, index + 1);
      const reason = why?.(missing);
      return `\`${pathText(missing)}\` is missing${reason === undefined ? suggestion(value, key) : `: ${reason}`}`;
    }
    value = next;
  }
  return undefined;
}

function suggestion(parent: unknown, key: string | number): string {
  if (typeof parent !== 'object' || Array.isArray(parent)) return '';
  const near = nearMiss(String(key), Object.keys(parent as object));
  return near === undefined ? '' : `; did you mean \`${near}\`?`;
}
