// `npm run siege -- --seconds 60`: an attacker of each kind beside a victim, on an embedded PostgreSQL. Prints the table, and fails where
// the victim's p99 is more than three times its quiet value, an answer was a server error, or an execution did not end.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createPawl } from '../src/main.ts';
import { SIEGE_AUTH, siege } from '../test/security/siege.ts';

const MOST_RATIO = 3;
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const dataDir = mkdtempSync(join(tmpdir(), 'pawl-siege-'));
const pawl = await createPawl({
  serve: true,
  database: { dataDir },
  server: { port: 0, logLevel: 'silent' },
  auth: SIEGE_AUTH,
  rateLimit: { perTokenPerMinute: 10_000_000, perTokenBurst: 10_000_000 },
  http: { allowLoopback: true },
});
try {
  const rows = await siege(pawl, Number(values.seconds));
  console.table(rows);
  const bad = rows.filter(
    ({ ratio, serverErrors, unfinished }) => ratio > MOST_RATIO || serverErrors > 0 || unfinished > 0,
  );
  for (const { attack } of bad) console.error(`the victim suffered from: ${attack}`);
  process.exitCode = bad.length === 0 ? 0 : 1;
} finally {
  await pawl.close();
  rmSync(dataDir, { recursive: true, force: true });
}
