// Reads the data that `pawl run` or a stopped `pawl dev` left in a folder: a server in this process, without a runner, for the
// duration of the command.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from './file/line-map.ts';

let close: (() => Promise<void>) | null = null;

/** The address; null: the folder is empty, or another process uses it. */
export async function readFolder(dataDir: string): Promise<string | null> {
  if (!existsSync(join(dataDir, 'cluster'))) return null;
  const { createPawl } = await import('../main.ts');
  const pawl = await createPawl({
    serve: true,
    runner: false,
    isWatched: false,
    database: { dataDir },
    server: { port: 0, host: '127.0.0.1', logLevel: 'silent' },
    auth: { allowLooseAuth: true },
  }).catch(() => null);
  if (pawl === null) return null;
  close = () => pawl.close();
  process.stderr.write(`pawl: no server is running; this is what is in ${printable(dataDir)}\n`);
  return pawl.url;
}

/** Called at the end of the command. */
export async function closeFolder(): Promise<void> {
  await close?.();
}
