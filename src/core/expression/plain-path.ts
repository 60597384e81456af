// Most templates are plain paths (`trigger.order.id`, `context.data['get-item'].items[0]`) and most conditions compare one
// with a literal; setting up the parser costs more than reading these. This reads just them, to the very tree that the
// parser's way gives; for anything else it gives up, and the parser decides. A property test holds the two together.

import type { BinaryOperator, Expr } from './ast.ts';
import { FORBIDDEN_MEMBERS } from './refusal.ts';

const ROOT = /\s*([A-Za-z_$][\w$]*)/y;
const NAME = /\.([A-Za-z_$][\w$]*)/y;
const TEXT = /\['([^'\\\n\r\u2028\u2029]*)'\]/y;
const INDEX = /\[(0|[1-9]\d{0,8})\]/y;
const OPERATOR = /\s*(===|!==|==|!=|>=|<=|>|<)\s*/y;
const QUOTED = /'([^'\\\n\r\u2028\u2029]*)'/y;
const NUMBER = /((?:0|[1-9]\d{0,14})(?:\.\d{1,9})?)(?![\w$.])/y;
const WORD = /(true|false|null)(?![\w$])/y;
const REST = /\s*$/y;

/** Far below the nesting that is allowed. */
const MAX_STEPS = 50;

/** A path, or a path compared with a literal. null: anything else. */
export function readPlainly(source: string, roots: readonly string[]): Expr | null {
  const path = readPath(source, roots);
  if (path === null || matchAt(REST, source, path.end) !== null) return path?.expr ?? null;
  const operator = matchAt(OPERATOR, source, path.end);
  const literal = operator === null ? null : readLiteral(source, operator.end);
  if (operator === null || literal === null || matchAt(REST, source, literal.end) === null) return null;
  const right: Expr = { op: 'const', value: literal.value };
  return { op: 'binary', operator: operator.text as BinaryOperator, left: path.expr, right };
}

function readPath(source: string, roots: readonly string[]): { expr: Expr; end: number } | null {
  const first = matchAt(ROOT, source, 0);
  if (first === null || !roots.includes(first.text)) return null;
  const start = first.end - first.text.length;
  let expr: Expr = { op: 'root', name: first.text, start, end: first.end };
  let end = first.end;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const step = matchAt(NAME, source, end) ?? matchAt(TEXT, source, end);
    const index = step === null ? matchAt(INDEX, source, end) : null;
    if (step === null && index === null) return { expr, end };
    const key = step === null ? Number(index!.text) : step.text;
    if (FORBIDDEN_MEMBERS.has(String(key))) return null;
    end = (step ?? index)!.end;
    expr = { op: 'member', object: expr, key, start, end };
  }
  return null;
}

function readLiteral(source: string, at: number): { value: string | number | boolean | null; end: number } | null {
  const text = matchAt(QUOTED, source, at);
  if (text !== null) return { value: text.text, end: text.end };
  const number = matchAt(NUMBER, source, at);
  if (number !== null) return { value: Number(number.text), end: number.end };
  const word = matchAt(WORD, source, at);
  return word === null ? null : { value: word.text === 'null' ? null : word.text === 'true', end: word.end };
}

function matchAt(pattern: RegExp, source: string, at: number): { text: string; end: number } | null {
  pattern.lastIndex = at;
  const match = pattern.exec(source);
  return match === null ? null : { text: match[1] ?? '', end: pattern.lastIndex };
}
