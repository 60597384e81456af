// Most templates are plain paths (`trigger.order.id`, `context.data['get-item'].items[0]`), and setting up the parser costs
// more than reading one. This reads just those, to the very tree that the parser's way gives; for anything else it
// gives up, and the parser decides. A property test holds the two together.

import type { Expr } from './ast.ts';
import { FORBIDDEN_MEMBERS } from './refusal.ts';

const ROOT = /\s*([A-Za-z_$][\w$]*)/y;
const NAME = /\.([A-Za-z_$][\w$]*)/y;
const TEXT = /\['([^'\\\n\r\u2028\u2029]*)'\]/y;
const INDEX = /\[(0|[1-9]\d{0,8})\]/y;
const REST = /\s*$/y;

/** Far below the nesting that is allowed. */
const MAX_STEPS = 50;

/** null: not a plain path of one of the roots. */
export function readPlainPath(source: string, roots: readonly string[]): Expr | null {
  const first = matchAt(ROOT, source, 0);
  if (first === null || !roots.includes(first.text)) return null;
  const start = first.end - first.text.length;
  let expr: Expr = { op: 'root', name: first.text, start, end: first.end };
  let end = first.end;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const step = matchAt(NAME, source, end) ?? matchAt(TEXT, source, end);
    const index = step === null ? matchAt(INDEX, source, end) : null;
    if (step === null && index === null) return matchAt(REST, source, end) === null ? null : expr;
    const key = step === null ? Number(index!.text) : step.text;
    if (FORBIDDEN_MEMBERS.has(String(key))) return null;
    end = (step ?? index)!.end;
    expr = { op: 'member', object: expr, key, start, end };
  }
  return null;
}

function matchAt(pattern: RegExp, source: string, at: number): { text: string; end: number } | null {
  pattern.lastIndex = at;
  const match = pattern.exec(source);
  return match === null ? null : { text: match[1] ?? '', end: pattern.lastIndex };
}
