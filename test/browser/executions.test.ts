import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor, useServer } from '../server/api-server.ts';
import { program, useBrowser } from './browser.ts';
import { fillWithSamples, type SampleData } from './sample-data.ts';

const server = useServer({ engine: { parkAfterMs: 0 } });

describe.skipIf(program === null)('the list of executions', () => {
  const browser = useBrowser();
  let samples: SampleData;
  beforeAll(async () => {
    samples = await fillWithSamples(server.url, await tokenFor());
    return () => samples.stop();
  });
  const open = (search = '', options = {}) => browser.open(`${server.url}/executions${search}`, options);

  it('a retrying execution is listed with its node, error and next attempt', async () => {
    const page = await open('?why=retrying');
    const row = page.locator(`[data-execution="${samples.retrying}"]`);
    await row.getByText('pull').waitFor();
    await row.getByText('ACTION_FAILED').waitFor();
    await row.getByText(/^in \d+ s$/).waitFor();
  });

  it('the filters of the list are in the address and survive a reload', async () => {
    const page = await open();
    await page.getByLabel('Status', { exact: true }).selectOption('Failed');
    // The old rows stay until the new rows are there.
    await expect.poll(() => page.locator('[data-execution]').count()).toBe(1);
    await page.reload();
    await page.locator(`[data-execution="${samples.failed}"]`).waitFor();
    expect(await page.locator('[data-execution]').count()).toBe(1);
    expect(await page.getByLabel('Status', { exact: true }).inputValue()).toBe('Failed');
  });

  it('no row moves when new executions come while somebody has selected one', async () => {
    const page = await open('?workflowId=orders');
    const first = page.locator('[data-execution]').first();
    const id = await first.getAttribute('data-execution');
    await first.getByRole('checkbox').check();
    await samples.client.executions.execute('orders', { trigger: { amount: 5, gateway: `${samples.shopUrl}/ok` } });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.locator('[data-execution]').first().getAttribute('data-execution')).toBe(id);
    await page.getByRole('button', { name: '1 new' }).click();
    await expect.poll(() => page.locator('[data-execution]').first().getAttribute('data-execution')).not.toBe(id);
  });

  it('a failed request is shown as an error with its message and correlation id, never as an empty list', async () => {
    const page = await open('?workflowId=nothing-is-called-so');
    await page.getByText('No execution matches these filters').waitFor();
    const error = { code: 'INTERNAL_ERROR', message: 'the disk is full', correlationId: 'c-17', timestamp: '' };
    await page.route('**/api/v1/executions?*', (route) => route.fulfill({ status: 500, json: { error } }));
    await page.goto(`${server.url}/executions?status=Failed`);
    await page.getByRole('alert').getByText('the disk is full').waitFor();
    await page.getByText('c-17').waitFor();
    expect(await page.getByText('No execution matches').count()).toBe(0);
    expect(browser.complaints.splice(0).every((text) => text.includes('500'))).toBe(true);
  });

  it('the list can be walked with the keyboard alone', async () => {
    const page = await open();
    await page.locator('[data-execution]').first().waitFor();
    const second = await page.locator('[data-execution]').nth(1).getAttribute('data-execution');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/executions/${second}`);
  });

  it('bulk actions are disabled while a filter by request is set', async () => {
    const page = await open('?workflowId=orders&requestId=order-3');
    await expect.poll(() => page.locator('[data-execution]').count()).toBe(1);
    const cancel = page.getByRole('button', { name: /^Cancel/ });
    await expect.poll(() => cancel.getAttribute('title')).toContain('filter by request');
  });

  it('each number of the overview opens the list that it counts', async () => {
    const page = await browser.open(`${server.url}/`);
    const tiles = page.getByRole('list', { name: 'Now' });
    for (const [label, search, id] of [
      ['failed, last hour', { status: 'Failed,TimedOut', since: '1h' }, samples.failed],
      ['retrying', { why: 'retrying' }, samples.retrying],
      ['waiting', { why: 'waiting' }, samples.waiting],
      ['sleeping', { why: 'sleeping' }, samples.sleeping],
    ] as const) {
      const tile = tiles.getByRole('link', { name: label });
      await expect.poll(() => tile.innerText()).toMatch(/\b1\b/);
      await tile.click();
      await page.locator(`[data-execution="${id}"]`).waitFor();
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual(search);
      await expect.poll(() => page.locator('[data-execution]').count()).toBe(1);
      await page.goBack();
    }
    for (const label of ['queued', 'running']) {
      await expect.poll(() => tiles.getByRole('link', { name: label }).innerText()).toMatch(/\b0\b/);
      await tiles.getByRole('link', { name: label }).click();
      await page.getByText('No execution matches these filters').waitFor();
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ why: label });
      await page.goBack();
    }
    await expect.poll(() => tiles.getByRole('link', { name: 'dead letters' }).innerText()).toMatch(/\b0\b/);
    await tiles.getByRole('link', { name: 'dead letters' }).click();
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ tab: 'dead-letters' });
  });

  it('the export copies exactly the ids of the matching executions', async () => {
    const page = await open('?workflowId=orders&status=Succeeded');
    await page.locator('[data-execution]').first().waitFor();
    await page.getByRole('button', { name: 'Export ids' }).click();
    await page.getByText(/ids are in the clipboard/).waitFor();
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
    const matching = await samples.client.executions.rows({ workflowId: 'orders', status: ['Succeeded'], limit: 200 });
    expect(copied.toSorted()).toEqual(matching.data.map(({ executionId }) => executionId).toSorted());
  });

  it('a bulk action shows the count first and the progress later, and is recorded once', async () => {
    for (const name of ['eve', 'bob', 'joe']) await samples.client.executions.execute('onboard', { trigger: { name } });
    const page = await open('?workflowId=onboard&why=sleeping');
    await expect.poll(() => page.locator('[data-execution]').count()).toBe(4);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[data-count="4"]').waitFor();
    await dialog.getByLabel('Reason').fill('the mail server is away');
    // A double click sends one order.
    await dialog.getByRole('button', { name: 'Pause 4 executions' }).dblclick();
    await page.getByRole('status').getByText('Done: 4 of 4').waitFor();
    await page.getByText('the mail server is away').waitFor();
    const { data } = await samples.client.admin.audit({ action: 'bulk', limit: 10 });
    expect(data[0]).toMatchObject({ actor: 'ada', details: { reason: 'the mail server is away' } });
    const orders = data.filter(({ details }) => (details as { reason?: string }).reason === 'the mail server is away');
    expect(orders).toHaveLength(1);
    const paused = await samples.client.executions.rows({ workflowId: 'onboard', status: ['Paused'] });
    expect(paused.data).toHaveLength(4);
  });

  it('a list without a filter offers no bulk action', async () => {
    const page = await open();
    await page.locator('[data-execution]').first().waitFor();
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(0);
    const order = { requestId: crypto.randomUUID(), action: 'cancel', reason: 'all of them', filter: {} };
    expect((await server.post('/api/v1/bulk', order)).status).toBe(400);
  });

  it('a wait can be continued from the inbox', async () => {
    const page = await browser.open(`${server.url}/waits`);
    const row = page.getByRole('row').filter({ hasText: 'approval' });
    await row.getByRole('button', { name: 'Continue…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('{ "approvedBy": "grace" }');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Continue: accepted').waitFor();
    await expect
      .poll(async () => (await samples.client.executions.graph(samples.waiting)).nodes.find(({ id }) => id === 'ship'))
      .toMatchObject({ status: 'Succeeded' });
    await row.waitFor({ state: 'detached' });
  });

  it('a failed execution can be retried with the keyboard alone', async () => {
    const page = await open('?status=Failed');
    await page.locator(`[data-execution="${samples.failed}"]`).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/executions/${samples.failed}`);
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    for (let steps = 0; (await focused()) !== 'Retry'; steps++) {
      expect(steps).toBeLessThan(60);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByText('Retry: accepted').waitFor();
  });

  it('a failed execution can be retried and a live one cancelled on a screen of 375 pixels', async () => {
    const page = await open('?status=Failed', { width: 375 });
    await page.locator(`[data-execution="${samples.failed}"]`).click();
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('Retry: accepted').waitFor();
    await page.goto(`${server.url}/executions/${samples.sleeping}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the execution' }).click();
    await page.getByText('was cancelled').waitFor();
  });
});
