// Which errors a rule covers. A rule names codes (`NETWORK_ERROR`, or an action's own), groups of codes, or `*` for every error.
// Authors think in groups: `HTTP_503`, `HTTP_5XX`, `TIMEOUT`, `NETWORK`. Pure.

import { isJsonObject, type Json } from '../json/json.ts';
import type { RetryPolicy, RetryRule } from '../plan/plan.ts';

export interface Failure {
  readonly error: { readonly code: string };
  readonly timedOut?: boolean | undefined;
  /** The outputs of the failed attempt, e.g. the status of an HTTP response. */
  readonly outputs?: Json | undefined;
}

/** Every error. */
export const ANY_CODE = '*';

/** These fail again with the same parameters, so no rule retries them. */
const NEVER_RETRIED: ReadonlySet<string> = new Set(['TEMPLATE_ERROR', 'PARAMETERS_INVALID']);

const GROUPS: Readonly<Record<string, (code: string) => boolean>> = {
  TIMEOUT: (code) => code.endsWith('_TIMEOUT'),
  NETWORK: (code) => code === 'NETWORK_ERROR',
};

export const CODE_GROUPS = Object.keys(GROUPS);

/** `HTTP_503`, or `HTTP_5XX` for a hundred of them. */
export const HTTP_CODE = /^HTTP_([1-5])(\d\d|XX)$/;

export function isNamed(codes: readonly string[], failure: Failure): boolean {
  return codes.some((code) => code !== ANY_CODE && matches(code, failure));
}

export function isAmong(codes: readonly string[], failure: Failure): boolean {
  return codes.includes(ANY_CODE) || isNamed(codes, failure);
}

/** An error that its action calls final is retried only if a rule names its code. null: the error is final. */
export function ruleFor(rules: readonly RetryRule[], failure: Failure & { retryable: boolean }): RetryPolicy | null {
  if (NEVER_RETRIED.has(failure.error.code)) return null;
  const rule = rules.find(({ on }) => isAmong(on, failure));
  if (rule === undefined) return null;
  return failure.retryable || isNamed(rule.on, failure) ? rule : null;
}

function matches(pattern: string, { error, timedOut, outputs }: Failure): boolean {
  if (pattern === error.code) return true;
  const inGroup = GROUPS[pattern];
  if (inGroup !== undefined) return inGroup(error.code) || (pattern === 'TIMEOUT' && timedOut === true);
  const http = HTTP_CODE.exec(pattern);
  const status = http === null ? null : statusIn(outputs);
  if (http === null || status === null) return false;
  return http[2] === 'XX' ? Math.floor(status / 100) === Number(http[1]) : status === Number(`${http[1]}${http[2]}`);
}

/** The status field of `http.request`, or of a pipeline's step. */
function statusIn(outputs: Json | undefined): number | null {
  if (!isJsonObject(outputs)) return null;
  const status = outputs.status ?? outputs.status_code;
  return typeof status === 'number' ? status : null;
}
