// Messages to and from a rendering process. JSON travels as text: parsing it there creates plain objects, whatever their keys
// (S8).

import type { Problem } from '../../core/problem/problem.ts';

export interface ProcessOptions {
  readonly allowLoops: boolean;
  readonly strict: boolean;
  readonly nullText: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly outputLimitBytes: number;
}

export type RenderJob =
  | {
      readonly kind: 'render';
      readonly body: string;
      readonly answersSchema: string | null;
      readonly answers: string;
      readonly extras: string;
    }
  | { readonly kind: 'checkBody'; readonly body: string }
  | { readonly kind: 'checkSchema'; readonly schema: string }
  | { readonly kind: 'checkValue'; readonly schema: string; readonly value: string };

export type RenderOutcome =
  | { readonly kind: 'rendered'; readonly body: string }
  | { readonly kind: 'checked'; readonly problems: Problem[] }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string; readonly problems?: Problem[] };

export type RefusalCode = 'WFENG005' | 'TEMPLATE_ERROR' | 'TEMPLATE_TIMEOUT' | 'OUTPUT_TOO_LARGE' | 'INTERNAL_ERROR';

/** Sent once, when the process has loaded. Time is counted from here. */
export const READY = 'ready';

/**
 * A job is limited by processor time, so a busy machine does not fail it. After this many times its limit in real time it is
 * late anyway.
 */
export const MAX_STRETCH = 10;

/** A job that runs this long over its limit stops its own process, because the parent may be gone. */
export const WATCHDOG_MS = 2_000;
