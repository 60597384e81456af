// An answer within a time, or an error: whoever asks a database that hangs must not hang with it.

import { setTimeout as sleep } from 'node:timers/promises';

export async function before<Result>(deadlineMs: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const deadline = sleep(deadlineMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error('too late');
  });
  // Whichever loses must not become an unhandled rejection.
  deadline.catch(() => {});
  work.catch(() => {});
  try {
    return await Promise.race([work, deadline]);
  } finally {
    timer.abort();
  }
}
