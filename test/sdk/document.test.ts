// The program in docs/sdk.md, run by Node as a reader would run it.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { useShop } from '../pipeline/shop.ts';
import { tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
const shop = useShop();
const page = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8');
const client = new URL('../../src/sdk/client.ts', import.meta.url).href;

it('the program in docs/sdk.md runs and prints what the page says', async () => {
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
  expect(blocks.length).toBeGreaterThan(6);
  const folder = mkdtempSync(join(tmpdir(), 'pawl-sdk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'program.mts');
  writeFileSync(file, blocks.join('\n').replace("from 'pawl/sdk'", `from '${client}'`));
  const env = { PATH: process.env.PATH, PAWL_URL: server.url, PAWL_TOKEN: await tokenFor(), SHOP_URL: shop().url };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toBe('0 ExecutionStarted');
  expect(lines).toContain("Succeeded { note: 'Hello Ada' }");
  expect(lines).toContain('{ shipped: 2, pages: [ 1, 2, 3 ] }');
  expect(lines.slice(-2)).toEqual(['404 WORKFLOW_NOT_FOUND true', 'true 7']);
});
