// `npm run fuzz:api [-- --examples N] [--seed N] [--only REGEX] [--mode loose|strict]`: sends generated requests to a loose and
// to a strict server, as the tests do, with any number of examples of each operation; by default 100.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createPawl } from '../src/main.ts';
import { fuzz, hasSchemathesis } from '../test/openapi/fuzz.ts';
import { LOOSE, STRICT, strictToken } from '../test/openapi/fuzzed-server.ts';

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    mode: { type: 'string' },
  },
});

if (!hasSchemathesis()) {
  console.error('schemathesis is not here: `npm run servers` obtains it, if Python 3 is installed');
  process.exit(1);
}

for (const mode of ['loose', 'strict']) {
  if (values.mode !== undefined && values.mode !== mode) continue;
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-fuzz-'));
  const pawl = await createPawl({ ...(mode === 'loose' ? LOOSE : STRICT), database: { dataDir } });
  try {
    const { ok, report } = await fuzz({
      url: pawl.url!,
      token: mode === 'loose' ? null : await strictToken(),
      examples: Number(values.examples),
      seed: Number(values.seed),
      ...(values.only === undefined ? {} : { only: values.only }),
    });
    console.log(report);
    console.log(`${mode}: ${ok ? 'no failure' : 'FAILED'}`);
    if (!ok) process.exitCode = 1;
  } finally {
    await pawl.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
