// `pawl dev` and the other commands as real processes, each with a folder of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../bin/pawl', import.meta.url));

export interface DevProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Resolves with the exit code; null when the process was killed. */
  readonly exited: Promise<number | null>;
}

/** `port`: any free port, unless the server must come back on the same one. */
export async function startDev(folder: string, { port = 0 }: { port?: number } = {}): Promise<DevProcess> {
  const args = ['dev', '--data', folder, '--port', String(port)];
  const child = spawn(process.execPath, [CLI, ...args], { stdio: 'pipe' });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const lines = createInterface({ input: child.stdout });
  const ready = (async () => {
    for await (const line of lines) {
      const [, url] = /^Pawl is ready at (http:\/\/\S+)$/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error(`pawl dev ended before it was ready:\n${errors.join('')}`);
  })();
  return { url: await ready, process: child, exited };
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, with these variables besides the existing ones. */
export const pawl = (environment: Record<string, string>, ...args: string[]): Promise<Finished> =>
  command(environment, args).finished;

export interface RunningCommand {
  readonly process: ChildProcess;
  /** What the command has printed so far. */
  readonly output: { stdout: string; stderr: string };
  readonly finished: Promise<Finished>;
}

/** A command while it runs. `input` is what it reads from its standard input; `detached`: in a process group of its own. */
export function command(
  environment: Record<string, string>,
  args: readonly string[],
  input = '',
  { detached = false } = {},
): RunningCommand {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [CLI, ...args], { stdio: 'pipe', env, detached });
  const output = { stdout: '', stderr: '' };
  child.stdin.end(input);
  child.stdout.on('data', (chunk) => {
    output.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += String(chunk);
  });
  const finished = once(child, 'close').then(([code]) => ({ code: code as number, ...output }));
  return { process: child, output, finished };
}
