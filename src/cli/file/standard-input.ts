// Standard input as a whole, also where somebody types it.

import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/** A terminal is standard output's too, which Node makes non-blocking: opened anew, it waits for what is typed, up to Ctrl-D. */
export const readStandardInput = (): Buffer => readFileSync(isatty(0) ? '/dev/tty' : 0);
