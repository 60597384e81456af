// The life of a process that serves or runs until somebody stops it: start, say so, wait for a signal, stop cleanly. What
// keeps it from starting is said in a sentence, with exit code 2.

import type { Pawl, PawlOptions } from '../main.ts';
import { EXIT, SAME_KEYSTROKE_MS, UsageError } from './exit.ts';

export interface Life {
  /** Everything answers: tell whoever waits for it. */
  ready(url: string): void;
  /** Before that: what a first start needs. */
  started(pawl: Pawl): Promise<void>;
}

/** Problems of the person who started it, not of the program. */
const THEIR_PROBLEMS = new Set(['PortTakenError', 'FolderInUseError', 'AuthConfigError', 'ConfigError']);

export async function runUntilStopped(options: PawlOptions, life: Life): Promise<number> {
  const stop = stopSignal();
  const pawl = await open(options);
  try {
    await life.started(pawl);
    life.ready(pawl.url ?? '');
    await stop;
  } finally {
    await pawl.close();
  }
  return EXIT.ok;
}

async function open(options: PawlOptions): Promise<Pawl> {
  // Everything there is: only for the commands that need it, so that the others answer at once.
  const { createPawl } = await import('../main.ts');
  try {
    return await createPawl(options);
  } catch (error) {
    if (error instanceof Error && THEIR_PROBLEMS.has(error.name)) throw new UsageError(error.message);
    throw error;
  }
}

/** The first signal stops cleanly, a second one at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const stop = () => {
      if (askedAt !== null && performance.now() - askedAt > SAME_KEYSTROKE_MS) process.exit(EXIT.failed);
      if (askedAt !== null) return;
      askedAt = performance.now();
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

export function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`--port must be a number up to 65535, not "${text}"`);
  return port;
}
