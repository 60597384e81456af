// How the nodes of an execution ended, as parts of one strip: trouble first, then what is done, then what never ran.

import { statusLook, type Tone } from './status.ts';

export interface StripPart {
  readonly status: string;
  readonly tone: Tone;
  /** Percent. */
  readonly share: number;
}

const ORDER: readonly Tone[] = ['bad', 'warn', 'run', 'wait', 'ok', 'idle'];

export function stripOf(counts: Readonly<Record<string, number>>): {
  readonly parts: readonly StripPart[];
  /** The same in words. */
  readonly text: string;
} {
  const given = Object.entries(counts).filter(([, count]) => count > 0);
  const total = given.reduce((sum, [, count]) => sum + count, 0);
  const parts = given
    .map(([status, count]) => ({ status, tone: statusLook(status).tone, share: (100 * count) / total }))
    .toSorted((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone) || a.status.localeCompare(b.status));
  const text = parts.map(({ status }) => `${counts[status]} ${statusLook(status).word.toLowerCase()}`).join(', ');
  return { parts, text };
}
