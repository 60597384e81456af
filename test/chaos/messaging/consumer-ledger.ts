// What a consumer has recorded, over all its lives: one JSON line each, on disk before anything is answered.

import { readFileSync } from 'node:fs';

export interface LedgerLine {
  readonly type: 'received' | 'processed' | 'acked';
  readonly guid: string;
  readonly at: number;
  /** The body of a received message. */
  readonly body?: string;
}

/** A line that its writer did not live to finish was never written. */
export function readLedger(path: string): LedgerLine[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as LedgerLine];
    } catch {
      return [];
    }
  });
}
