// `?wait=30s`: how long a request may stay open.

import { z } from 'zod';
import { parseDuration } from '../core/duration/duration.ts';

const inWords = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

/** A duration or a number of seconds, in milliseconds. A longer value counts as the longest. */
export const waitQuery = (longestMs: number, purpose: string) =>
  z
    .string()
    .regex(/^\d{1,15}( ?(ms|s|m|h|d))?$/, 'must be a duration such as "30s"')
    .transform((text) => parseDuration(/^\d+$/.test(text) ? `${text}s` : text))
    .transform((ms) => Math.min(ms ?? longestMs, longestMs))
    .optional()
    .describe(`${purpose}, e.g. "30s"; at most ${inWords(longestMs)}`);

/** The longest wait for the end of an execution. */
export const LONGEST_RESULT_WAIT_MS = 300_000;

export const resultWait = waitQuery(
  LONGEST_RESULT_WAIT_MS,
  'answer with the finished execution if it ends within this time',
);
