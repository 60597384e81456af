// Runs one workflow on both engines: `npx node examples/temporal/try.ts`.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPawl } from '../../src/main.ts';

const PORT = 17_233;
const order = JSON.parse(readFileSync(new URL('./order.json', import.meta.url), 'utf8'));

/** Resolves when the server says that it is ready. */
function startTemporal(): Promise<() => void> {
  const script = new URL('../../scripts/servers.ts', import.meta.url).pathname;
  const server = spawn(process.execPath, [script, 'start', 'temporal', '--port', String(PORT)]);
  return new Promise((resolve, reject) => {
    server.stdout.on('data', (piece: Buffer) => {
      if (piece.toString().includes('is ready')) resolve(() => server.kill());
    });
    server.once('exit', (code) => reject(new Error(`the Temporal server ended (${code}); try: npm run servers`)));
  });
}

const dataDir = mkdtempSync(join(tmpdir(), 'pawl-temporal-'));
const stop = await startTemporal();
const pawl = await createPawl({ database: { dataDir }, temporal: { address: `127.0.0.1:${PORT}` } });
try {
  await pawl.publish(order);
  for (const driver of ['native', 'temporal'] as const) {
    const { executionId } = await pawl.start('order', { driver, trigger: { items: ['a', 'b'] } });
    const { status, outputs } = await pawl.result(executionId);
    const { engineRunRef } = await pawl.executions.get('default', executionId);
    console.log(`${driver}: ${status} ${JSON.stringify(outputs)} ${engineRunRef ?? ''}`);
  }
} finally {
  await pawl.close();
  stop();
  rmSync(dataDir, { recursive: true, force: true });
}
