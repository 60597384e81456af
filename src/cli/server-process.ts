// The life of a process that serves or runs until somebody stops it: start, say so, wait for a signal, stop cleanly. What
// keeps it from starting is said in a sentence, with exit code 2.

import { resolveConfig } from '../config/config.ts';
import type { Pawl, PawlOptions } from '../main.ts';
import { isPawl } from './dev-address.ts';
import { EXIT, SAME_KEYSTROKE_MS, UsageError } from './exit.ts';
import { offerOwnModules } from './file/action-imports.ts';
import { isPortFree } from './port.ts';
import { explained } from './start-problem.ts';
import { surviveStrayErrors } from './stray-error.ts';

export interface Life {
  /** Called once everything answers, to notify the caller. The returned function is called at the end. */
  ready(pawl: Pawl): (() => void) | undefined;
  /** Before that: what a first start needs. */
  started(pawl: Pawl): Promise<void>;
}

export async function runUntilStopped(options: PawlOptions, life: Life): Promise<number> {
  const stop = stopSignal();
  const pawl = await openUnlessStopped(options, stop);
  if (pawl === null) return EXIT.ok;
  let leave: (() => void) | undefined;
  try {
    await life.started(pawl);
    leave = life.ready(pawl);
    // Whoever presses Ctrl-C waits for it; a platform takes the server out of its list first.
    if ((await stop.asked) === 'SIGTERM') await pawl.announceStop();
  } finally {
    leave?.();
    await pawl.close();
  }
  return EXIT.ok;
}

/** null: somebody stopped it before it was ready. A terminal's Ctrl-C ends the making of a database too: no failure then. */
async function openUnlessStopped(options: PawlOptions, stop: StopSignal): Promise<Pawl | null> {
  let isOpening = true;
  void stop.asked.then(() => isOpening && process.stderr.write('\nstopping\n'));
  try {
    const pawl = await explained(
      () => open({ ...options, signal: stop.signal }),
      () => resolveConfig(options).database.dataDir,
    );
    if (!stop.isAsked()) return pawl;
    await pawl.close();
  } catch (error) {
    if (!stop.isAsked()) throw error;
  } finally {
    isOpening = false;
  }
  return null;
}

async function open(options: PawlOptions): Promise<Pawl> {
  if (options.serve === true) await refuseTakenPort(options);
  // Everything there is: only for the commands that need it, so that the others answer at once.
  const { createPawl } = await import('../main.ts');
  offerOwnModules();
  // What a former process left runs as soon as this one is open.
  surviveStrayErrors(Object.values(resolveConfig(options).connectorTokens));
  return createPawl(options);
}

/** Before a database is made and started for nothing. */
async function refuseTakenPort(options: PawlOptions): Promise<void> {
  const { host, port } = resolveConfig(options).server;
  if (port === 0 || (await isPortFree(host, port))) return;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  throw new UsageError(
    (await isPawl(url))
      ? `port ${port} of ${host} is taken: Pawl is running already, at ${url}. Use that one, stop it, or choose another port with --port`
      : `port ${port} of ${host} is taken by another program: stop it, or choose one with --port`,
  );
}

interface StopSignal {
  readonly asked: Promise<NodeJS.Signals>;
  readonly signal: AbortSignal;
  isAsked(): boolean;
}

/** The first signal stops cleanly, a second one at once. */
function stopSignal(): StopSignal {
  let askedAt: number | null = null;
  const aborted = new AbortController();
  const asked = new Promise<NodeJS.Signals>((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      if (askedAt !== null && performance.now() - askedAt > SAME_KEYSTROKE_MS) process.exit(EXIT.failed);
      if (askedAt !== null) return;
      askedAt = performance.now();
      aborted.abort();
      resolve(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
  return { asked, signal: aborted.signal, isAsked: () => askedAt !== null };
}
