// Starts runner-process.ts, listens to its messages, and ends it as a test wants. A supervised runner is started again whenever
// it ends by itself, as a process manager would do.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { RunnerProcessNews, RunnerProcessSettings } from './runner-process.ts';

type Began = Extract<RunnerProcessNews, { type: 'began' }>;

export interface SpawnedRunner {
  /** The next attempt that began in this process. */
  nextBegan(): Promise<Began>;
  /** kill -9. */
  kill(): Promise<void>;
  /** SIGTERM: a graceful stop. */
  stop(): Promise<void>;
}

const ENTRY = fileURLToPath(new URL('./runner-process.ts', import.meta.url));

/** Resolves when the runner is ready to work. */
export async function spawnRunner(settings: RunnerProcessSettings): Promise<SpawnedRunner> {
  const child = launch(settings);
  const began: Began[] = [];
  const takers: ((news: Began) => void)[] = [];
  child.on('message', (news: RunnerProcessNews) => {
    if (news.type !== 'began') return;
    const take = takers.shift();
    if (take === undefined) began.push(news);
    else take(news);
  });
  onTestFinished(() => end(child, 'SIGKILL'));
  await isReady(child);
  return {
    nextBegan: () =>
      began.length > 0 ? Promise.resolve(began.shift()!) : new Promise((resolve) => takers.push(resolve)),
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  };
}

/** Keeps one runner going until the test is over, and counts how often it ended by itself. */
export function superviseRunner(settings: RunnerProcessSettings): { readonly crashes: number } {
  const watch = { crashes: 0 };
  let over = false;
  let child = start();
  onTestFinished(() => {
    over = true;
    return end(child, 'SIGKILL');
  });
  return watch;

  function start(): ChildProcess {
    const started = launch(settings);
    started.once('exit', () => {
      if (over) return;
      watch.crashes++;
      child = start();
    });
    return started;
  }
}

function launch(settings: RunnerProcessSettings): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', ENTRY, JSON.stringify(settings)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...settings.environment },
  });
}

async function isReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.on('message', (news: RunnerProcessNews) => {
    if (news.type === 'ready') resolve();
  });
  child.once('exit', (code) => reject(new Error(`the runner process ended with ${code} before it was ready`)));
  await promise;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
