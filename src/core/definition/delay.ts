// `core.delay` is not run as an action: it becomes a durable timer, so that a wait of days holds no slot. Its one
// parameter is `durationMs`, a number or a template that yields one.

import { MAX_DURATION_MS } from '../duration/duration.ts';
import { didYouMean } from '../expression/problem.ts';
import type { JsonObject } from '../json/json.ts';
import { childPointer } from '../problem/pointer.ts';
import type { Findings } from '../problem/problem.ts';
import type { DraftStep } from './draft.ts';

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
  const durationMs = parameters.durationMs;
  const durationAt = childPointer(at, 'durationMs');
  if (typeof durationMs === 'number' && durationMs >= 0 && durationMs <= MAX_DURATION_MS) {
    return { kind: 'sleep', durationMs };
  }
  if (typeof durationMs === 'string' && durationMs.includes('{{')) {
    return { kind: 'sleep', durationMs: { value: durationMs, at: durationAt } };
  }
  if (durationMs === undefined) findings.error('REQUIRED', durationAt, `${DELAY_ACTION} needs \`durationMs\``);
  else {
    const message = `must be milliseconds from 0 to ${MAX_DURATION_MS} (ten years), or a {{ template }} that yields them`;
    findings.error('BAD_DURATION', durationAt, message);
  }
  return null;
}
