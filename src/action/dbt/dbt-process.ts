// Runs the real `dbt` program once, in its own process group. Its JSON lines go to the attempt's log as they come. An abort ends
// the whole group, because dbt starts further processes.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { TerminalError } from '../../core/error/error.ts';
import type { ActionLog } from '../log.ts';

export interface DbtProcess {
  readonly command: string;
  readonly args: readonly string[];
  readonly projectFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly log: ActionLog;
}

export interface DbtExit {
  /** null: ended by a signal. */
  readonly code: number | null;
  /** Messages of level error, and stderr, in order. */
  readonly errors: readonly string[];
}

const KILL_AFTER_MS = 5_000;
const MAX_ERRORS = 50;
const MAX_LINE = 2_000;

export function runDbt({ command, args, projectFolder, env, signal, log }: DbtProcess): Promise<DbtExit> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: projectFolder,
      env: { ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const errors: string[] = [];
    const note = (message: string) => {
      if (errors.length < MAX_ERRORS) errors.push(message.slice(0, MAX_LINE));
    };
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { level, message } = readLine(line);
      if (level === 'error') note(message);
      if (message !== '') log[level](message.slice(0, MAX_LINE));
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.trim() !== '') note(line);
    });
    const stop = () => {
      endGroup(child.pid, 'SIGTERM');
      const timer = setTimeout(() => endGroup(child.pid, 'SIGKILL'), KILL_AFTER_MS);
      timer.unref();
      child.once('exit', () => clearTimeout(timer));
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    child.once('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', stop);
      reject(error.code === 'ENOENT' ? notInstalled(command) : error);
    });
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      resolve({ code, errors });
    });
  });
}

function notInstalled(command: string): TerminalError {
  return new TerminalError(
    'DBT_NOT_INSTALLED',
    `dbt is not installed: ${command} cannot be started. Install it (\`npm run servers\` in a clone, or pip install dbt-core and an adapter), and set dbt.command to its path`,
  );
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group is already gone.
  }
}

type Level = 'debug' | 'info' | 'warn' | 'error';
const LEVELS: Readonly<Record<string, Level>> = { debug: 'debug', info: 'info', warn: 'warn', error: 'error' };

/** dbt writes one JSON object per line; a Python traceback is plain text. */
function readLine(line: string): { level: Level; message: string } {
  try {
    const { info } = JSON.parse(line) as { info?: { level?: string; msg?: string } };
    return { level: LEVELS[info?.level ?? ''] ?? 'info', message: (info?.msg ?? '').trim() };
  } catch {
    return { level: 'info', message: line };
  }
}
