// Cuts a string into text and `{{ expression }}` pieces. A `}}` inside a string, a template literal or an object literal of the
// expression does not end the piece.

import type { Finding } from '../expression/problem.ts';
import { advance, type Nesting } from '../expression/scan.ts';

/** `start` and `end` are those of the expression, without the braces and the white space around it. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression'; readonly source: string; readonly start: number };

export type SplitResult =
  | { readonly ok: true; readonly parts: readonly Part[] }
  | { readonly ok: false; readonly start: number; readonly finding: Finding };

export function splitTemplate(source: string): SplitResult {
  const parts: Part[] = [];
  let at = 0;
  for (;;) {
    const open = source.indexOf('{{', at);
    const text = source.slice(at, open === -1 ? source.length : open);
    if (text !== '') parts.push({ kind: 'text', text });
    if (open === -1) return { ok: true, parts };
    const close = endOfExpression(source, open + 2);
    if (close === undefined) return { ok: false, start: open, finding: UNCLOSED };
    parts.push(expressionPart(source, open + 2, close));
    at = close + 2;
  }
}

const UNCLOSED: Finding = {
  code: 'UNCLOSED',
  message: '`{{` is not closed by `}}`',
  hint: "close it (and every quote in it), or write {{ '{{' }} for the text itself",
};

function endOfExpression(source: string, start: number): number | undefined {
  const nesting: Nesting = [];
  let at = start;
  while (at < source.length) {
    if (nesting.length === 0 && source.startsWith('}}', at)) return at;
    at = advance(source, at, nesting);
  }
  return undefined;
}

function expressionPart(source: string, start: number, end: number): Part {
  const written = source.slice(start, end);
  const leading = written.length - written.trimStart().length;
  return { kind: 'expression', source: written.trim(), start: start + leading };
}
