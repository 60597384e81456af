// Offsets in a text as lines and columns (both from 1), and the lines themselves, fit to print.

import type { Span } from './json-source.ts';

const MAX_SHOWN = 120;

export interface Excerpt {
  readonly text: string;
  /** Where in the text the span begins (from 0), and how many characters of it to underline. */
  readonly offset: number;
  readonly length: number;
}

export class LineMap {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  position(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#starts[low]! + 1 };
  }

  /** The line of the span's begin; of a very long line, the part around it. */
  excerpt(span: Span): Excerpt {
    const { line, column } = this.position(span.start);
    const lineStart = this.#starts[line - 1]!;
    const lineEnd = (this.#starts[line] ?? this.#text.length + 1) - 1;
    const cut = lineEnd - lineStart > MAX_SHOWN ? Math.max(0, column - 1 - MAX_SHOWN / 2) : 0;
    const from = lineStart + cut;
    const to = Math.min(lineEnd, from + MAX_SHOWN);
    const before = cut > 0 ? '…' : '';
    const text = `${before}${printable(this.#text.slice(from, to))}${to < lineEnd ? '…' : ''}`;
    const length = Math.max(1, Math.min(span.end, to) - span.start);
    return { text: text.trimEnd(), offset: before.length + span.start - from, length };
  }
}

/** Text of a stranger on a terminal: control characters would move the cursor, or worse. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, ' ');
}
