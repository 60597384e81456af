// Runs schemathesis against a server. Schemathesis reads our OpenAPI document and sends requests that it generates from the
// document.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/server/server.ts';

export const SCHEMATHESIS = join(cacheFolder('schemathesis'), 'bin', 'st');
export const hasSchemathesis = (): boolean => existsSync(SCHEMATHESIS);

export interface Fuzzing {
  readonly url: string;
  /** Null: the server is loose. */
  readonly token: string | null;
  /** The number of generated requests for each operation, besides those at the edges of every schema. */
  readonly examples: number;
  readonly seed?: number;
  readonly only?: string;
  /** Comma separated; absent: all. */
  readonly phases?: string;
}

export interface Fuzzed {
  readonly ok: boolean;
  readonly report: string;
}

export function fuzz({ url, token, examples, seed = 1, only, phases }: Fuzzing): Promise<Fuzzed> {
  const args = [
    ...['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', `${url}/api/v1/openapi.json`],
    ...['--max-examples', String(examples), '--seed', String(seed), '--workers', '1'],
    ...(token === null ? [] : ['--header', `Authorization: Bearer ${token}`]),
    ...(only === undefined ? [] : ['--include-path-regex', only]),
    ...(phases === undefined ? [] : ['--phases', phases]),
    '--no-color',
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(SCHEMATHESIS, args, {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, COLUMNS: '200' },
    });
    const said: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => said.push(piece));
    child.stderr.on('data', (piece: Buffer) => said.push(piece));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, report: Buffer.concat(said).toString() }));
  });
}
