// `pawl dev` and the other commands as real processes, each with a folder of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface DevProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Resolves with the exit code, null when it was killed. */
  readonly exited: Promise<number | null>;
}

export async function startDev(folder: string, ...flags: string[]): Promise<DevProcess> {
  const child = spawn(process.execPath, [CLI, 'dev', '--data', folder, '--port', '0', ...flags], { stdio: 'pipe' });
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

/** Runs a command to its end, with these variables besides the ones that are there. */
export async function pawl(
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: 'pipe', env: { ...process.env, ...environment } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...output };
}
