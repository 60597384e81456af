// A real nats-server for tests: an installed one, or one that was built into .cache/ before, or one that is built there now if Go
// is available. If none can be had, one loud line says so, and the tests are skipped.

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { cacheFolder } from '../../src/config/config.ts';
import { lastingPorts } from '../support/lasting-port.ts';

const SOURCE = 'github.com/nats-io/nats-server/v2@v2.15.2';
const FOLDER = join(import.meta.dirname, '../../.cache/bin');
const BUILT = join(FOLDER, 'nats-server');
/** The server that `npm run servers` has obtained. */
const OBTAINED = join(cacheFolder(), 'nats-2.15.2', 'nats-server');
/** Once per clone, beside other tests on a busy machine. */
export const BUILD_LIMIT_MS = 240_000;

/** The program, or why there is none. */
export async function natsServerProgram(): Promise<{ readonly path: string } | { readonly missing: string }> {
  const installed = inPath('nats-server') ?? [OBTAINED, BUILT].find((path) => existsSync(path)) ?? null;
  if (installed !== null) return { path: installed };
  const go = inPath('go');
  if (go === null) return { missing: 'there is neither a nats-server nor Go to build one' };
  const failure = await build(go);
  return failure === null ? { path: BUILT } : { missing: `nats-server could not be built: ${failure}` };
}

function inPath(program: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

function build(go: string): Promise<string | null> {
  const env = { ...process.env, GOBIN: FOLDER, GOFLAGS: '-mod=mod' };
  return new Promise((resolve) => {
    execFile(go, ['install', SOURCE], { env, timeout: BUILD_LIMIT_MS }, (error, _stdout, stderr) => {
      resolve(error === null ? null : `${error.message.split('\n')[0]} ${stderr.trim().split('\n').at(-1)}`);
    });
  });
}

export interface NatsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** With JetStream. `token`: the token that clients must send. */
export async function startNatsServer(path: string, { token }: { token?: string } = {}): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-nats-'));
  const [port] = await lastingPorts(1);
  const auth = token === undefined ? [] : ['--auth', token];
  const server = spawn(path, ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port), ...auth]);
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let said = '';
    server.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('Server is ready')) resolve();
    });
    server.once('exit', () => reject(new Error(`nats-server ended: ${said}`)));
  });
  return {
    url: `nats://127.0.0.1:${port}`,
    async stop() {
      server.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
