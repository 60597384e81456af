// `npm run siege -- --seconds 10 --rounds 3`: an attacker of each kind beside a victim, on an embedded PostgreSQL. A round is a
// quiet stretch and a stretch under attack, each of the given seconds. Prints the table, and fails where the victim's p99 is more
// than three times its quiet value (the median of the rounds), an answer was a server error, or an execution did not end. `--only
// 'forged keys'` runs one attack.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createPawl } from '../src/main.ts';
import { ATTACKS, SIEGE_AUTH, siege } from '../test/security/siege.ts';

const MOST_RATIO = 3;
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', multiple: true, default: Object.keys(ATTACKS) },
    help: { type: 'boolean', default: false },
  },
});
const unknown = values.only.filter((name) => ATTACKS[name] === undefined);
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`unknown attack: ${unknown.join(', ')}`);
  console.error('npm run siege -- [--seconds N] [--rounds N] [--only ATTACK]…');
  console.error(`attacks: ${Object.keys(ATTACKS).join(', ')}`);
  process.exit(values.help ? 0 : 2);
}
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
  const rows = await siege(pawl, {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    attacks: values.only,
  });
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
