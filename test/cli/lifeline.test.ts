// bin/pawl under a Node that is too old starts the pinned Node. For whoever kills bin/pawl, the two are one process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

const PAWL = fileURLToPath(new URL('../../bin/pawl', import.meta.url));

/** What bin/pawl does when its Node is too old. */
const PARENT = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, [${JSON.stringify(PAWL)}, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, PAWL_LIFELINE_FD: '3' },
  });
  console.log('child ' + child.pid);`;

const folder = mkdtempSync(join(tmpdir(), 'pawl-lifeline-'));
let child: number | null = null;

afterEach(() => {
  if (child !== null && isAlive(child)) process.kill(child, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('the child process of bin/pawl ends when bin/pawl is killed, and frees the data folder', {
  timeout: 60_000,
}, async () => {
  const args = ['dev', '--data', join(folder, 'data'), '--port', '0'];
  const parent = spawn(process.execPath, ['-e', PARENT, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: parent.stdout })) {
    child = Number(/^child (\d+)$/.exec(line)?.[1] ?? child);
    if (line.startsWith('Pawl is ready at')) break;
  }
  expect(isAlive(child!)).toBe(true);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  while (isAlive(child!)) await delay(20);

  const next = spawn(process.execPath, [PAWL, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let isReady = false;
  for await (const line of createInterface({ input: next.stdout })) {
    if (!line.startsWith('Pawl is ready at')) continue;
    isReady = true;
    next.kill('SIGINT');
  }
  expect(isReady).toBe(true);
});
