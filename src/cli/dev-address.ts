// The address of a running `pawl dev`, kept in its data folder so that `pawl run` in the same folder can use it. A file left by a
// killed process leads nowhere, and a request shows that.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'address';
const PATIENCE_MS = 2_000;

export function rememberAddress(folder: string, url: string): () => void {
  const file = join(folder, FILE);
  writeFileSync(file, `${url}\n`);
  return () => rmSync(file, { force: true });
}

/** null: no server answers there. */
export async function serverOf(folder: string): Promise<string | null> {
  try {
    const url = readFileSync(join(folder, FILE), 'utf8').trim();
    return (await isPawl(url)) ? url : null;
  } catch {
    return null;
  }
}

export async function isPawl(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return answer.ok && answer.headers.has('x-correlation-id');
  } catch {
    return false;
  }
}
