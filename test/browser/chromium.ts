// A real Chromium, spoken to over its own debugging protocol: no package, nothing to download on install. It is the one on the
// PATH; where there is none, and this is root on Debian, it comes from Debian's packages. Otherwise it is said, loudly, what is
// missing and how to get it.

import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** For all of it. Where nothing can be fetched it is over much sooner. */
const INSTALL_MS = 120_000;
/** No second tries, no waiting for a network that is not there or for somebody else who installs something. */
const APT_OPTIONS = ['Acquire::http::Timeout=10', 'Acquire::Retries=0', 'APT::Update::Error-Mode=any'];
const START_MS = 60_000;
const LISTENING = /^DevTools listening on (ws:\/\/\S+)$/;

const run = promisify(execFile);

/** Null: there is none to be had. */
export async function findChromium(): Promise<string | null> {
  const isInstallable = process.getuid?.() === 0 && onPath(['apt-get']) !== null;
  if (onPath(NAMES) === null && isInstallable) await install();
  const program = onPath(NAMES);
  if (program !== null && (await doesRun(program))) return program;
  console.warn('SKIPPED: the browser tests need Chromium. Install it (on Debian, as root: apt-get install chromium).');
  return null;
}

async function install(): Promise<void> {
  console.warn('Chromium is missing; getting it from the packages of this system. This happens once.');
  const flags = APT_OPTIONS.flatMap((option) => ['-o', option]);
  const options = {
    signal: AbortSignal.timeout(INSTALL_MS),
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  try {
    await run('apt-get', ['update', ...flags], options);
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...flags, 'chromium'], options);
  } catch (error) {
    console.warn(`Chromium could not be installed: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** Some systems have a program of that name which only says how to get the real one. */
async function doesRun(program: string): Promise<boolean> {
  return run(program, ['--version'], { timeout: START_MS }).then(
    () => true,
    () => false,
  );
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
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill();
    await exited;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    const [, address] = LISTENING.exec(line) ?? [];
    if (address !== undefined) resolve(address);
  });
  const address = await Promise.race([listening, exited]);
  clearTimeout(late);
  if (address !== undefined) return { address, stop };
  rmSync(profile, { recursive: true, force: true });
  throw new Error(`Chromium ended before it listened:\n${said.join('\n')}`);
}
