// Answers over 8 KB are sent as gzip to clients that take it. In the background: packing a megabyte would stall the event loop (S4).

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const PACKED_FROM_LENGTH = 8 * 1024;
const FASTEST = { level: 1 };
const pack = promisify(gzip);

export const takesGzip = (accepted: string | string[] | undefined): boolean => /\bgzip\b/.test(String(accepted ?? ''));

/** Null: it is too short to be worth it. */
export const packedText = (text: string): Promise<Buffer> | null =>
  text.length < PACKED_FROM_LENGTH ? null : pack(text, FASTEST);
