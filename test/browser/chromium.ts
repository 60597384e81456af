// A real Chromium, spoken to over its own debugging protocol: no package, nothing to download on install. It is the one on the
// PATH; where there is none, and this is root on Debian, it comes from Debian's packages. Otherwise it is said, loudly, what is
// missing and how to get it.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const INSTALL_MS = 240_000;
const LISTENING = /^DevTools listening on (ws:\/\/\S+)$/;

/** Null: there is none to be had. */
export async function findChromium(): Promise<string | null> {
  const found = onPath(NAMES);
  if (found !== null) return found;
  if (process.getuid?.() === 0 && onPath(['apt-get']) !== null) await install();
  const installed = onPath(NAMES);
  if (installed === null) {
    console.warn(
      'SKIPPED: the browser tests need Chromium. Install it (on Debian, as root: apt-get install chromium).',
    );
  }
  return installed;
}

async function install(): Promise<void> {
  console.warn('Chromium is missing; getting it from the packages of this system. This happens once.');
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    await promisify(execFile)('apt-get', ['update'], options);
    await promisify(execFile)('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], options);
  } catch (error) {
    console.warn(`Chromium could not be installed: ${(error as Error).message.split('\n')[0]}`);
  }
}

function onPath(names: readonly string[]): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const files = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return files.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where it listens, and how to end it. */
export async function startChromium(program: string): Promise<{ address: string; stop(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'pawl-browser-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const child = spawn(program, [...flags, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    const [, address] = LISTENING.exec(line) ?? [];
    if (address === undefined) continue;
    // What else it says is nobody's business, and must not fill the pipe.
    child.stderr.resume();
    const stop = async () => {
      child.kill();
      await exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    };
    return { address, stop };
  }
  throw new Error(`Chromium ended before it listened:\n${said.join('\n')}`);
}
