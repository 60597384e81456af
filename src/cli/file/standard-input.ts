// Reads all of standard input, typed input too.

import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Node makes a terminal non-blocking because it is standard output too. Opened anew, it waits for input up to Ctrl-D. */
export const readStandardInput = (): Buffer => readFileSync(isatty(0) ? '/dev/tty' : 0);
