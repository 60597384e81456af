// The programs in docs/lifecycles.md and docs/delivery.md, run by Node as a reader would run them.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { loan, loanPolicies } from './lifecycle-server.ts';

const server = useServer();
const ROOT = new URL('../../', import.meta.url);
const page = (name: string) => readFileSync(new URL(`docs/${name}`, ROOT), 'utf8');
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code!);

async function run(name: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'program.mts');
  const client = new URL('src/sdk/client.ts', ROOT).href;
  writeFileSync(file, blocks(page(name), 'ts').join('\n').replaceAll("from 'pawl/sdk'", `from '${client}'`));
  const env = {
    PATH: process.env.PATH,
    PAWL_URL: server.url,
    PAWL_TOKEN: await tokenFor(),
    EXAMPLES: join(ROOT.pathname, 'examples/lifecycle'),
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', file], { env });
  return stdout.trim().split('\n');
}

it('the programs in lifecycles.md and delivery.md print what the pages say', async () => {
  await server.pawl.publish(chain('notify-underwriter', echo('note')), { tenantId: 'acme' });
  const [definition, policies] = blocks(page('lifecycles.md'), 'json').map((code) => JSON.parse(code) as JsonObject);
  const { $schema: _loan, ...example } = loan();
  const { $schema: _policies, ...examplePolicies } = loanPolicies();
  expect([definition, policies]).toEqual([example, examplePolicies]);
  expect(await run('lifecycles.md')).toEqual([
    '1 true',
    'true draft submitted',
    'false DuplicateRequest',
    '409 `approve` is not possible in the state `draft`: it allows `submit`',
    'submitted true',
    'transition submit trigger',
    'activity call the customer undefined',
  ]);
  expect(await run('delivery.md')).toEqual(['checking loan-17 { amount: 5000 }']);
});
