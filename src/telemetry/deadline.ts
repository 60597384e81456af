// An answer within a time limit, or an error, so that a caller does not hang with the database.

import { setTimeout as sleep } from 'node:timers/promises';

export async function before<Result>(deadlineMs: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const deadline = sleep(deadlineMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error('too late');
  });
  // The losing promise must not become an unhandled rejection.
  deadline.catch(() => {});
  work.catch(() => {});
  try {
    return await Promise.race([work, deadline]);
  } finally {
    timer.abort();
  }
}
