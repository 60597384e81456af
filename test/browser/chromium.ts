// A real Chromium for playwright-core, which downloads none: the one on the PATH. If there is none, and this process is root on
// Debian, Chromium comes from Debian's packages. Otherwise one loud line says what is missing and how to get it.

import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** The limit for the whole installation. Where nothing can be fetched, it ends much sooner. */
const INSTALL_MS = 120_000;
/** No retries, no waiting for a missing network or for another process that installs packages. */
const APT_OPTIONS = ['Acquire::http::Timeout=10', 'Acquire::Retries=0', 'APT::Update::Error-Mode=any'];
const START_MS = 60_000;

const run = promisify(execFile);

/** Null: no Chromium can be had. */
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

/** Headless, and without the things that Chromium would look up or fetch by itself. */
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
