// `core.delay` does not run as an action: it becomes a durable timer, so that a wait of days holds no slot. Its one parameter is
// `durationMs`: milliseconds, a duration such as "30s", or a template that yields milliseconds.

import { DURATION_FORMS, MAX_DURATION_MS, parseDuration } from '../duration/duration.ts';
import { didYouMean } from '../expression/problem.ts';
import type { JsonObject } from '../json/json.ts';
import { childPointer } from '../problem/pointer.ts';
import type { Findings } from '../problem/problem.ts';
import { allDraftNodes, type Draft, type DraftStep } from './draft.ts';

export const DELAY_ACTION = 'core.delay';

export function readDelay(parameters: JsonObject, at: string, findings: Findings): DraftStep | null {
  for (const key of Object.keys(parameters)) {
    if (key === 'durationMs') continue;
    const suggestion = didYouMean(findings.nearMiss(key, ['durationMs']));
    findings.error(
      'UNKNOWN_KEY',
      childPointer(at, key),
      `\`${key}\` is not a parameter of ${DELAY_ACTION}`,
      suggestion,
    );
  }
  const given = parameters.durationMs;
  const durationMs = typeof given === 'string' ? (parseDuration(given) ?? given) : given;
  const durationAt = childPointer(at, 'durationMs');
  if (typeof durationMs === 'number' && durationMs >= 0 && durationMs <= MAX_DURATION_MS) {
    return { kind: 'sleep', durationMs };
  }
  if (typeof durationMs === 'string' && durationMs.includes('{{')) {
    return { kind: 'sleep', durationMs: { value: durationMs, at: durationAt } };
  }
  if (durationMs === undefined) findings.error('REQUIRED', durationAt, `${DELAY_ACTION} needs \`durationMs\``);
  else {
    const message = `must be milliseconds from 0 to ${MAX_DURATION_MS} (ten years), ${DURATION_FORMS}, or a {{ template }} that yields milliseconds`;
    findings.error('BAD_DURATION', durationAt, message);
  }
  return null;
}

/** Reports a sleep that is longer than the execution may take. */
export function checkSleeps(draft: Draft, findings: Findings): void {
  const { timeoutMs, format } = draft;
  if (timeoutMs === null) return;
  for (const { id, at, step } of allDraftNodes(draft)) {
    if (step?.kind !== 'sleep' || typeof step.durationMs !== 'number' || step.durationMs <= timeoutMs) continue;
    const field = format === 'pipeline' ? 'max_duration_seconds' : 'timeoutMs';
    const message = `\`${id}\` sleeps for ${step.durationMs / 1_000} s, and the execution times out after ${timeoutMs / 1_000} s`;
    findings.warning('SLEEP_TOO_LONG', at, message, `raise \`${field}\`, or sleep for less`);
  }
}
