// Maps offsets of a text to lines and columns (both from 1), and gives the lines in printable form.

import type { Span } from './json-source.ts';

const MAX_SHOWN = 120;

export interface Excerpt {
  readonly text: string;
  /** Where in the excerpt the span begins (from 0), and how many characters to underline. */
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

  /** The line in which the span begins, or the part around it if the line is very long. */
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

/** Makes foreign text safe for a terminal: control characters could move the cursor, or worse. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, ' ');
}
