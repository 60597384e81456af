// How long a process has been at work: the time its first thread had a processor. On a busy machine much more passes on the clock.

import { readFileSync } from 'node:fs';

/** Milliseconds; null where the system does not tell, as only Linux does. */
export function processorMs(pid: number | undefined): number | null {
  try {
    const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ', 1)[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : null;
  } catch {
    return null;
  }
}
