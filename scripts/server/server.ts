// One row of the table of servers: what it is, how this machine can obtain it, and how it is started. The programs are in a
// folder outside the work tree, so that a clean checkout finds what an earlier one has built.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface Server {
  readonly name: string;
  /** What the tests and people use the server for. */
  readonly use: string;
  /** The path of the program if it is already there; null: it has to be obtained. */
  find(): string | null;
  /** Obtains the program, or says why this machine cannot. */
  obtain(): Promise<Obtained>;
  /** The default port of the server. */
  readonly port: number;
  /** Absent: nothing to run in the foreground. */
  start?(program: string, options: StartOptions): Promise<RunningServer>;
}

export type Obtained = { readonly path: string } | { readonly missing: string };

export interface StartOptions {
  readonly port: number;
  /** Where the server keeps its data; absent: in memory, or in a temporary folder. */
  readonly data?: string | undefined;
}

export interface RunningServer {
  readonly address: string;
  readonly process: ChildProcess;
  /** Ends what was started along with the server, such as its own database. */
  readonly endOthers?: () => Promise<void>;
}

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pawl');

/** A separate folder for each version of a program. */
export function cacheFolder(name: string): string {
  return join(CACHE, name);
}

export function inPath(program: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

/** Builds a Go program into the cache folder. */
export async function goInstall(source: string, folder: string, program: string): Promise<Obtained> {
  const go = inPath('go');
  if (go === null) return { missing: `Go is not installed (https://go.dev/dl); it builds ${source}` };
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod' };
  const failure = await runProgram(go, ['install', source], { env });
  const path = join(folder, program);
  return failure === null && existsSync(path)
    ? { path }
    : { missing: `go install ${source}: ${failure ?? 'no program'}` };
}

/** Null: the program succeeded; otherwise its last output. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { ...options, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const said = `${stdout}\n${stderr}`.trim().split('\n');
      resolve(error === null ? null : `${error.message.split('\n')[0]}: ${said.at(-1)}`);
    });
  });
}

/** Starts a program that listens on the port, and waits until it answers there. */
export async function startListening(
  program: string,
  args: readonly string[],
  port: number,
  isReady: () => Promise<boolean> = () => answers(port),
): Promise<RunningServer> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const listen = (piece: Buffer) => {
    said = (said + piece.toString()).slice(-10_000);
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  let ended = false;
  child.once('error', (error) => {
    ended = true;
    said += error.message;
  });
  child.once('exit', () => {
    ended = true;
  });
  for (;;) {
    if (ended) throw new Error(`${program} ended before it was ready:\n${said.trim()}`);
    if (await isReady()) return { address: `127.0.0.1:${port}`, process: child };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
