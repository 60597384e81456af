import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor, useServer } from '../server/api-server.ts';
import { program, useBrowser } from './browser.ts';
import { fillWithSamples, type SampleData } from './sample-data.ts';

const server = useServer({ engine: { parkAfterMs: 0 } });

const MISTAKES = {
  id: 'wrong',
  displayName: 'Wrong',
  startNode: 'begin',
  nodes: [
    { id: 'begin', actionType: 'core.eco', parameters: {}, edges: [{ targetNode: 'reprt' }] },
    { id: 'report', actionType: 'core.echo', parameters: { text: '{{ trigger. }}' }, edgez: [] },
    { id: 'report', actionType: 'core.echo', parameters: {} },
  ],
};

describe.skipIf(program === null)('the page of a workflow', () => {
  const browser = useBrowser();
  let samples: SampleData;
  beforeAll(async () => {
    samples = await fillWithSamples(server.url, await tokenFor());
    return () => samples.stop();
  });
  const open = (path: string) => browser.open(`${server.url}${path}`);

  it('five mistakes in a definition are shown as five problems, and a suggestion fixes one with a click', async () => {
    const page = await open('/workflows/orders');
    const editor = page.getByRole('textbox', { name: 'Definition' });
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(JSON.stringify(MISTAKES, null, 2));
    const problems = page.getByRole('region', { name: 'Problems' });
    await problems.getByText(/^ ?5 problems$/).waitFor();
    for (const text of ['no action `core.eco`', '`reprt`', 'is not complete', '`edgez`', '`report` is taken'])
      await problems.getByRole('listitem').filter({ hasText: text }).waitFor();
    await problems.getByRole('button', { name: 'Use “report”' }).click();
    await expect.poll(() => problems.getByRole('listitem').count()).toBe(4);
    await page.getByRole('button', { name: 'Drop changes' }).click();
  });

  it('typed changes survive a reload, and can be merged with a draft that somebody else has saved', async () => {
    const page = await open('/workflows/onboard');
    const editor = page.getByRole('textbox', { name: 'Definition' });
    const mine = { ...((await samples.client.workflows.get('onboard')) as { definition: object }).definition };
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(JSON.stringify({ ...mine, displayName: 'By me' }, null, 2));
    await page.getByText('Changed here, not saved').waitFor();
    await page.reload();
    await page.getByText('Changed here, not saved').waitFor();
    await samples.client.workflows.openDraft('onboard');
    const { definition } = (await samples.client.workflows.get('onboard', { version: 'draft' })) as {
      definition: object;
    };
    await samples.client.workflows.create({ ...definition, description: 'by somebody else' } as never);
    await page.reload();
    await page.getByText('somebody else has saved meanwhile').waitFor();
    await page.getByRole('button', { name: 'Compare and merge…' }).click();
    await page.getByRole('button', { name: 'Use the merge' }).click();
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('The draft is saved').waitFor();
    const saved = await samples.client.workflows.get('onboard', { version: 'draft' });
    expect(saved).toMatchObject({ definition: { displayName: 'By me', description: 'by somebody else' } });
  });

  it('typed changes survive an expired token, and are saved after signing in', async () => {
    const page = await open('/workflows/sync-crm');
    const { definition } = (await samples.client.workflows.get('sync-crm')) as { definition: object };
    await page.getByRole('textbox', { name: 'Definition' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(JSON.stringify({ ...definition, description: 'typed before' }, null, 2));
    await page.getByText('Changed here, not saved').waitFor();
    const refused = {
      error: { code: 'UNAUTHORIZED', message: 'the token has expired', correlationId: 'c', timestamp: '' },
    };
    let isOut = true;
    await page.route('**/api/v1/**', (route) =>
      isOut ? route.fulfill({ status: 401, json: refused }) : route.fallback(),
    );
    await page.getByRole('button', { name: 'Save draft' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.getByLabel('Token or API key').waitFor();
    isOut = false;
    await dialog.getByLabel('Token or API key').fill(await tokenFor());
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The draft is saved').waitFor();
    expect(await samples.client.workflows.get('sync-crm', { version: 'draft' })).toMatchObject({
      definition: { description: 'typed before' },
    });
    expect(browser.complaints.splice(0).every((text) => text.includes('401'))).toBe(true);
  });

  it('all live executions of a workflow can be cancelled from its page', async () => {
    const page = await open('/workflows/onboard');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Cancel what is live…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[data-count="1"]').waitFor();
    await dialog.getByLabel('Reason').fill('it was a rehearsal');
    await dialog.getByRole('button', { name: 'Cancel 1 execution' }).click();
    await page.getByRole('status').getByText('Done: 1 of 1').waitFor();
    expect(await samples.client.executions.get(samples.sleeping)).toMatchObject({ status: 'Cancelled' });
  });

  it('the editor completes actions, nodes and outputs of the last execution', async () => {
    const page = await open('/workflows/orders');
    const editor = page.getByRole('textbox', { name: 'Definition' });
    await editor.click();
    await page.keyboard.press('Control+a');
    const expression = '{ "nodes": [{ "id": "a", "parameters": { "x": "{{ context.data. }}" } }] }';
    await page.keyboard.insertText(expression);
    for (let index = expression.indexOf('. }}') + 1; index < expression.length; index++) {
      await page.keyboard.press('ArrowLeft');
    }
    await page.keyboard.type('f');
    await page.getByRole('option', { name: /^fetch/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+a');
    const action = '{ "nodes": [{ "actionType": "http." }] }';
    await page.keyboard.insertText(action);
    for (let index = action.indexOf('."') + 1; index < action.length; index++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('r');
    await page.getByRole('option', { name: /^http\.request/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Drop changes' }).click();
  });

  it('the run dialog asks for the fields of the trigger schema, and starts the workflow with them', async () => {
    const page = await open('/workflows/orders');
    await page.getByRole('button', { name: 'Run…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/amount/).fill('0');
    await dialog
      .getByText(/less than|minimum/i)
      .first()
      .waitFor();
    await dialog.getByLabel(/amount/).fill('42');
    await dialog.getByLabel(/customer/).fill('grace');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL('**/executions/*');
    const id = page.url().split('/').at(-1)!;
    expect(await samples.client.executions.get(id)).toMatchObject({ trigger: { amount: 42, customer: 'grace' } });
  });

  it('a template makes an active workflow without a line of JSON', async () => {
    const page = await open('/workflows/new');
    await page.getByRole('button', { name: /HTTP Health Check/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the workflow').fill('From a template');
    await dialog.getByLabel(/Address to check/).fill('https://example.com/health');
    await dialog.getByLabel(/Slack channel/).fill('C0123456789');
    await dialog.getByRole('button', { name: 'Make and publish' }).click();
    await page.waitForURL('**/workflows/from-a-template');
    await page.getByText('Active', { exact: true }).waitFor();
  });
});
