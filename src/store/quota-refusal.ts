// Refusals by quota: the limit, its value, and when to try again. A limit that recovers by itself (a run ends, the month ends)
// gives 429 with Retry-After, any other 403.

import { PawlError } from '../core/error/pawl-error.ts';
import type { QuotaFilled } from './quota-port.ts';

/** A run may end at any moment. */
const RUN_RETRY_SECONDS = 1;

export const nextMonthAt = (at: number): number => {
  const now = new Date(at);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
};

export function quotaFilled({ filled, limit, used, at }: QuotaFilled): PawlError {
  const said = { limit: filled, value: limit, used };
  if (filled === 'concurrentRuns') {
    const message = `the quota allows ${limit} concurrent ${limit === 1 ? 'run' : 'runs'}, and ${used} ${used === 1 ? 'is' : 'are'} live: try again when one has ended`;
    return new PawlError('QUOTA_EXHAUSTED', message, { ...said, retryAfterSeconds: RUN_RETRY_SECONDS });
  }
  const resets = nextMonthAt(at);
  const resetsAt = new Date(resets).toISOString();
  const message = `the quota allows ${limit} executions a month, and ${used} are used: it starts anew at ${resetsAt}`;
  const retryAfterSeconds = Math.max(1, Math.ceil((resets - at) / 1000));
  return new PawlError('QUOTA_EXHAUSTED', message, { ...said, resetsAt, retryAfterSeconds });
}

export function tooManyWorkflows(limit: number): PawlError {
  const message = `the quota allows ${limit} ${limit === 1 ? 'workflow' : 'workflows'}: delete or archive one first`;
  return new PawlError('QUOTA_EXCEEDED', message, { limit: 'workflows', value: limit });
}

export function tooManyTasks(limit: number, used: number): PawlError {
  const message = `the quota allows ${limit} ${limit === 1 ? 'task' : 'tasks'} per workflow, and this one has ${used}`;
  return new PawlError('QUOTA_EXCEEDED', message, { limit: 'tasksPerWorkflow', value: limit, used });
}

export function noCron(): PawlError {
  const message = 'the quota does not allow schedules: start it by the API or a webhook';
  return new PawlError('QUOTA_EXCEEDED', message, { limit: 'cron', value: false });
}
