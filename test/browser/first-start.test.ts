// The first minute of a new user: `pawl dev` in an empty folder opens to samples, and to a card that leads through them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { program, useBrowser } from './browser.ts';

const CLI = fileURLToPath(new URL('../../bin/pawl', import.meta.url));

/** In a folder of its own, with no option but the port, as `npm start` does. */
async function firstStart(): Promise<{ url: string; stop(): Promise<void> }> {
  const cwd = mkdtempSync(join(tmpdir(), 'pawl-first-'));
  const child = spawn(process.execPath, [CLI, 'dev', '--port', '0'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGINT');
    await exited;
    rmSync(cwd, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Pawl is ready at (http:\/\/\S+)$/.exec(line) ?? [];
    if (url !== undefined) return { url, stop };
  }
  throw new Error('pawl dev ended before it was ready');
}

describe.skipIf(program === null)('a first start', () => {
  const browser = useBrowser();
  let url: string;
  beforeAll(async () => {
    const started = await firstStart();
    url = started.url;
    return started.stop;
  });

  it('a first start shows a finished, a waiting and a failed sample and two loans', async () => {
    const page = await browser.open(url, { token: null });
    const card = page.getByRole('region', { name: 'First steps' });
    await expect.poll(() => card.getByRole('link').count()).toBe(5);
    await page.getByRole('link', { name: 'Executions', exact: true }).click();
    for (const [workflow, status] of [
      ['hello-pawl', 'Succeeded'],
      ['hello-approval', 'Waiting'],
      ['hello-failure', 'Failed'],
    ] as const) {
      const row = page.locator('[data-execution]').filter({ hasText: workflow });
      await row.getByText(status, { exact: true }).first().waitFor();
    }
    await page.goto(`${url}/lifecycles/dev/loan`);
    const table = page.getByRole('table', { name: 'Instances' });
    await table.getByRole('row').filter({ hasText: 'loan-1' }).getByText('approved').waitFor();
    await table.getByRole('row').filter({ hasText: 'loan-2' }).getByText('submitted').waitFor();
  });

  it('the card of a first start leads to the retry, the approval, the repair, the facts and a new workflow', async () => {
    const page = await browser.open(url, { token: null });
    const card = page.getByRole('region', { name: 'First steps' });
    const step = async (name: RegExp) => {
      await page.goto(url);
      await card.getByRole('link', { name }).click();
    };
    await step(/See the retry/);
    await page
      .getByRole('complementary', { name: 'Node work' })
      .getByRole('button', { name: '2', exact: true })
      .waitFor();
    await step(/Approve/);
    await page
      .getByRole('button', { name: /^Continue/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Continue', exact: true }).click();
    await page.locator('h1').getByText('Succeeded', { exact: true }).waitFor();
    await step(/Fix and continue/);
    await page
      .getByRole('button', { name: /^Fix and continue/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const input = dialog.getByLabel('Input, as JSON');
    await input.fill((await input.inputValue()).replace('99', '0'));
    await dialog.getByRole('button', { name: /^Retry/ }).click();
    await page.locator('h1').getByText('Succeeded', { exact: true }).waitFor();
    await step(/Travel in time/);
    await page.getByText(/fact \d+ of \d+/).waitFor();
    await step(/Make one/);
    await page
      .getByRole('heading', { level: 1 })
      .getByText(/new workflow/i)
      .waitFor();
  });
});
