// Five things that a new user of the dashboard wants to do. Each begins at the overview and uses only what is visible: roles,
// names and texts, no address and no id.

import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor, useServer } from '../server/api-server.ts';
import { program, useBrowser } from './browser.ts';
import { fillWithSamples, type SampleData } from './sample-data.ts';

const server = useServer({ engine: { parkAfterMs: 0 } });

describe.skipIf(program === null)('a new user', () => {
  const browser = useBrowser();
  let samples: SampleData;
  beforeAll(async () => {
    samples = await fillWithSamples(server.url, await tokenFor());
    return () => samples.stop();
  });

  const arrive = async () => {
    const page = await browser.open(server.url);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const menu = page.getByRole('navigation').first();
    return { page, goTo: (name: string) => menu.getByRole('link', { name: new RegExp(`^${name}`) }).click() };
  };

  it('a new user finds why an execution failed, fixes it, and sees it go on', async () => {
    const { page, goTo } = await arrive();
    await goTo('Executions');
    await page.getByLabel('Status', { exact: true }).selectOption('Failed');
    await page
      .getByRole('link', { name: /orders/ })
      .first()
      .click();
    const cause = page.getByRole('status').filter({ hasText: 'failed' });
    await cause.getByText('ACTION_FAILED').waitFor();
    const fix = page.getByRole('button', { name: /^Fix and continue/ }).first();
    const dialog = page.getByRole('dialog');
    const input = dialog.getByLabel('Input, as JSON');
    await fix.click();
    await input.fill((await input.inputValue()).replace('9', '0'));
    await dialog.getByRole('button', { name: /^Retry/ }).click();
    const title = page.getByRole('heading', { level: 1 });
    await title.getByText('Completed, 1 failed').waitFor();
    // The remaining failure is shown, although the execution has succeeded.
    await page.getByText(/charge failed; the others went on/).waitFor();
  });

  it('a new user starts a workflow with input', async () => {
    const { page, goTo } = await arrive();
    await goTo('Workflows');
    await page.getByRole('link', { name: 'Orders', exact: true }).click();
    await page.getByRole('button', { name: 'Run…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/amount/).fill('77');
    await dialog.getByLabel(/customer/).fill('newcomer');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('orders').waitFor();
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await page.getByText('"newcomer"').first().waitFor();
  });

  it('a new user sees on the overview what runs next tonight, and when', async () => {
    const { page } = await arrive();
    const next = page.getByRole('region', { name: 'Runs next' });
    await next.getByText('sync-crm').first().waitFor();
    await next
      .getByText(/^in \d+ (h|min|m|s)/)
      .first()
      .waitFor();
    await next
      .getByText(/30 2 \* \* \*/)
      .first()
      .waitFor();
  });

  it('a new user stops everything of one workflow, after seeing how many executions there are', async () => {
    const { page, goTo } = await arrive();
    await goTo('Workflows');
    await page.getByRole('link', { name: 'Onboarding', exact: true }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: /^Cancel what is live/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('the campaign is over');
    await dialog.getByRole('button', { name: 'Cancel 1 execution' }).click();
    await page.getByRole('status').getByText('Done: 1 of 1').waitFor();
    expect(await samples.client.executions.get(samples.sleeping)).toMatchObject({ status: 'Cancelled' });
  });

  it('a new user finds which consumer has not acknowledged, and which messages', async () => {
    const { page, goTo } = await arrive();
    await goTo('Messages');
    const consumers = page.getByRole('table', { name: 'Consumers' });
    const columns = await consumers.getByRole('columnheader').allInnerTexts();
    const row = consumers.getByRole('row').filter({ hasText: 'audit' });
    const open = row.getByRole('cell').nth(columns.findIndex((name) => /not acknowledged/i.test(name)));
    await expect.poll(() => open.innerText()).toMatch(/[1-9]/);
    await open.getByRole('link').click();
    await page
      .getByRole('table', { name: /Messages|Deliveries/ })
      .getByRole('row')
      .filter({ hasText: 'audit' })
      .first()
      .waitFor();
  });
});
