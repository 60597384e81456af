// What a page shows while processes die: the runner is killed, and the server is stopped and started again.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { AUDIENCE, ISSUER, SECRET, tokenFor } from '../server/api-server.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { lastingPorts } from '../support/lasting-port.ts';
import { program, useBrowser } from './browser.ts';

const CLI = fileURLToPath(new URL('../../bin/pawl', import.meta.url));
const APPROVAL = {
  name: 'approval',
  tasks: { approve: { wait_for_webhook: { timeout: '1h' } }, rest: { needs: ['approve'], sleep: '1s' } },
};

describe.skipIf(program === null)('a page while processes die', () => {
  const browser = useBrowser();
  let database: TestDatabase;
  /** The server that the pages talk to, and another server of the same installation. */
  let front: Pawl;
  let other: Pawl;
  let port: number;
  let runner: ChildProcess;
  let client: PawlClient;

  const serve = (at: number) =>
    createPawl({
      serve: true,
      runner: false,
      database: { url: database.connectionString },
      server: { port: at, host: '127.0.0.1' },
      auth: { secret: SECRET, issuer: ISSUER, audience: AUDIENCE },
    });

  beforeAll(async () => {
    database = await testDatabase();
    [port] = (await lastingPorts(1)) as [number];
    [front, other] = await Promise.all([serve(port), serve(0)]);
    const env = { ...process.env, DATABASE_URL: database.connectionString, PAWL_ENGINE_LEASE_MS: '2000' };
    runner = spawn(process.execPath, [CLI, 'runner'], { env, stdio: 'ignore' });
    client = createClient({ url: other.url!, token: await tokenFor() });
    await client.workflows.create(APPROVAL as never);
    await vi.waitUntil(async () => (await client.admin.runners()).data.length === 1, { timeout: 30_000 });
  });
  afterAll(async () => {
    runner?.kill('SIGKILL');
    await front?.close();
    await other?.close();
    await database?.drop();
  });

  it('the page misses no fact and shows none twice when the server is stopped and started again', async () => {
    const { executionId: id } = await client.executions.execute('approval');
    const page = await browser.open(`${front.url}/executions/${id}`);
    await page.getByText('waits for its callback').waitFor();
    await front.close();
    await page.getByText('The server does not answer').waitFor();
    await client.executions.continueWait(id, 'approve', { ok: true });
    const { status } = await client.executions.waitFor(id, { signal: AbortSignal.timeout(30_000) });
    expect(status).toBe('Succeeded');
    front = await serve(port);
    const { transitions } = await client.executions.journal(id);
    const count = transitions.reduce((sum, { facts }) => sum + facts.length, 0);
    await page.getByText(`fact ${count} of ${count}`).waitFor();
    await page.locator('h1').getByText('Succeeded', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Events' }).click();
    const { data } = await client.executions.eventPage(id, { limit: 1_000 });
    await page.getByText(`${data.length} events`).waitFor();
    const shown = await page.getByRole('button', { name: /^Details of event/ }).allInnerTexts();
    const seqs = await page
      .getByRole('button', { name: /^Details of event/ })
      .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')));
    expect(new Set(seqs).size).toBe(shown.length);
    expect(seqs.toSorted()).toEqual(data.map(({ seq }) => `Details of event ${seq}`).toSorted());
    // Requests that found no server.
    browser.complaints.length = 0;
  });

  it('every page says that the only runner was killed, and the runner is shown as dead', async () => {
    const page = await browser.open(`${front.url}/workflows`);
    await page.locator('h1').waitFor();
    runner.kill('SIGKILL');
    await once(runner, 'exit');
    const banner = page.getByRole('alert');
    await banner.getByText(/Degraded: no runner is alive/).waitFor();
    await banner.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('table', { name: 'Runners' }).getByText('Dead').waitFor();
  });
});
