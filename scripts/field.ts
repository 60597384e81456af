// `npm run field [-- --executions N] [--only WORD]`: brings up each database that platform teams have, as far as this machine
// allows, runs one small but complete check on each (test/field/field-check.ts), and prints the table. Exits with 1 when a check
// found a problem.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../src/store/embedded/embedded.ts';
import { fieldCheck } from '../test/field/field-check.ts';
import { SETUPS } from '../test/field/setups.ts';
import { endWithUsage, readOptions } from './command-line.ts';

const USAGE = 'Usage: npm run field -- [--executions N] [--only WORD]';
const values = readOptions(USAGE, {
  executions: { type: 'string', default: '500' },
  only: { type: 'string', default: '' },
});
const executions = Number(values.executions);
if (!Number.isInteger(executions) || executions < 2) endWithUsage(USAGE, '--executions must be a number from 2 on');

const folder = mkdtempSync(join(tmpdir(), 'pawl-field-'));
chmodSync(folder, 0o755);
const settings = { max_connections: '200', unix_socket_directories: '' };
const server = await startEmbedded({ dataDir: folder, settings });
let failures = 0;
try {
  for (const setup of SETUPS.filter(({ name }) => name.includes(values.only))) console.log(await line(setup));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures > 0 ? 1 : 0;

async function line({ name, missing, bringUp, fleet }: (typeof SETUPS)[number]): Promise<string> {
  const reason = missing();
  if (reason !== null) return `- ${name}: SKIPPED, ${reason}`;
  try {
    const { database, midway, stop } = await bringUp(server.connectionString);
    try {
      const { seconds, problems } = await fieldCheck(database, { executions, midway, fleet });
      if (problems.length === 0) return `✓ ${name}: ${executions} executions and everything else in ${seconds} s`;
      failures++;
      return [`✗ ${name}:`, ...problems.map((problem) => `    ${problem}`)].join('\n');
    } finally {
      await stop();
    }
  } catch (error) {
    failures++;
    return `✗ ${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}
