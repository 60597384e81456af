// The life of a process that serves or runs until it is stopped: start, report, wait for a signal, stop cleanly. A failed start
// is explained in a sentence, with exit code 2.

import { resolveConfig } from '../config/config.ts';
import type { Pawl, PawlOptions } from '../main.ts';
import { isPawl } from './dev-address.ts';
import { EXIT, SAME_KEYSTROKE_MS, UsageError } from './exit.ts';
import { offerOwnModules } from './file/action-imports.ts';
import { isPortFree } from './port.ts';
import { explained } from './start-problem.ts';
import { surviveStrayErrors } from './stray-error.ts';

export interface Life {
  /** Called once everything answers. The returned function is called at the end. */
  ready(pawl: Pawl): (() => void) | undefined;
  /** Called before `ready`, for the tasks of a first start. */
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
    // A person who presses Ctrl-C is waiting. A platform first removes the server from its load balancer.
    if ((await stop.asked) === 'SIGTERM') await pawl.announceStop();
  } finally {
    leave?.();
    await pawl.close();
  }
  return EXIT.ok;
}

/** null: stopped before it was ready. A terminal's Ctrl-C also ends the creation of a database; that is not a failure. */
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
  // Loads the whole engine, so only commands that need it pay for it.
  const { createPawl } = await import('../main.ts');
  offerOwnModules();
  // Executions of a former process run as soon as this one is open.
  surviveStrayErrors(Object.values(resolveConfig(options).connectorTokens));
  return createPawl(options);
}

/** Checked before a database is created and started for nothing. */
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
