// Where a document is written to: text up to a number of bytes, and then an error, before more memory is spent on it.

import { toValue } from 'liquidjs';

export class OutputTooLarge extends Error {}

export class BoundedOutput {
  buffer = '';
  private left: number;

  constructor(limitBytes: number) {
    this.left = limitBytes;
  }

  write(value: unknown): void {
    const text = textOf(value);
    this.left -= Buffer.byteLength(text);
    if (this.left < 0) throw new OutputTooLarge();
    this.buffer += text;
  }
}

/** As Liquid has it; objects, which it cannot show, as JSON. */
function textOf(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === 'string') return plain;
  if (plain === null || plain === undefined) return '';
  if (Array.isArray(plain)) return plain.map(textOf).join('');
  return typeof plain === 'object' ? JSON.stringify(plain) : String(plain);
}
