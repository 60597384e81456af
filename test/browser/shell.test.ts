import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor, useServer } from '../server/api-server.ts';
import { program, useBrowser } from './browser.ts';
import { fillWithSamples, HOSTILE, HOSTILE_REF, type SampleData } from './sample-data.ts';

/** Every page, one after the other, even on a busy machine. */
const PATIENCE_MS = 480_000;
const WIDE = { width: 1_400, height: 880 };
const NARROW = { width: 375, height: 720 };
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

/** Elements that react to a click but that no key reaches: neither the element nor anything inside it takes the focus. */
function withoutKeys(): string[] {
  const takesFocus = 'a[href], button, input, select, textarea, summary, [tabindex]';
  return [...document.querySelectorAll<HTMLElement>('main *')].flatMap((element) => {
    const props = Object.entries(element).find(([name]) => name.startsWith('__reactProps$'))?.[1] as {
      onClick?: unknown;
    };
    if (props?.onClick === undefined || element.closest('.react-flow') !== null) return [];
    const isReached = element.closest(takesFocus) !== null || element.querySelector(takesFocus) !== null;
    return isReached || element.matches('label') ? [] : [element.outerHTML.slice(0, 160)];
  });
}

/** An execution of a node with a hostile name that fails with this message, under a hostile request id. */
async function failWith(client: SampleData['client'], message: string): Promise<string> {
  const nodes = [{ id: 'fails', actionType: 'core.fail', parameters: { message } }];
  await client.workflows.create({ id: 'hostile-failure', displayName: HOSTILE, startNode: 'fails', nodes } as never);
  await client.workflows.publish('hostile-failure');
  const { executionId } = await client.executions.execute('hostile-failure', { requestId: HOSTILE });
  await client.executions.waitFor(executionId, { signal: AbortSignal.timeout(30_000) });
  return executionId;
}

const server = useServer({ engine: { parkAfterMs: 0 } });

describe.skipIf(program === null)('every page of the dashboard', () => {
  const browser = useBrowser();
  let samples: SampleData;
  let bulk: string;
  let hostileFailure: string;
  beforeAll(async () => {
    samples = await fillWithSamples(server.url, await tokenFor());
    const order = {
      requestId: crypto.randomUUID(),
      action: 'pause' as const,
      reason: HOSTILE,
      ids: [samples.sleeping],
    };
    bulk = (await samples.client.bulk.order(order)).bulkId!;
    hostileFailure = await failWith(samples.client, `${HOSTILE} ${'x'.repeat(10_000)}`);
    return () => samples.stop();
  });

  const paths = () => [
    '/',
    '/executions',
    `/executions/${samples.failed}?node=charge`,
    `/executions/${samples.hostile}?tab=data`,
    `/executions/${samples.failed}?tab=timeline`,
    `/executions/${samples.failed}?tab=events`,
    `/executions/${samples.failed}?tab=children`,
    `/executions/${samples.failed}?tab=json`,
    `/executions/${samples.waiting}`,
    `/executions/${hostileFailure}`,
    `/executions/${hostileFailure}?tab=events`,
    '/failures',
    '/waits',
    '/workflows',
    '/workflows/hostile',
    '/workflows/hostile?tab=versions',
    '/workflows/hostile?tab=executions',
    '/workflows/orders?tab=triggers',
    '/workflows/orders?tab=stats',
    '/workflows/new',
    '/lifecycles',
    '/lifecycles/prod/loan',
    '/lifecycles/prod/loan/loan-17?tab=messages',
    `/lifecycles/prod/loan/${encodeURIComponent(HOSTILE_REF)}`,
    '/messages',
    `/messages/${samples.message}`,
    '/consumers/kyc',
    '/triggers',
    `/triggers/${samples.webhookTrigger}`,
    '/templates',
    '/templates/letters/welcome',
    '/catalog',
    '/catalog/core',
    '/operations',
    '/operations?tab=dead-letters',
    '/operations?tab=audit',
    '/settings',
    '/catalog/http',
    `/bulk/${bulk}`,
  ];

  /** Without loading everything again, as a click on a link does. */
  const walkTo = async (page: Page, path: string) => {
    await page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
    await page.waitForFunction(
      (to) => location.pathname + location.search === to && document.querySelector('[aria-label="Loading"]') === null,
      path,
    );
    await page.locator('h1').waitFor();
  };

  it(
    'every page is accessible in both themes, fits 375 pixels, keeps hostile data text, and takes no message',
    async () => {
      const page = await browser.open(`${server.url}/`);
      const taking: string[] = [];
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname === '/api/v1/deliveries' && !searchParams.has('stage')) taking.push(request.url());
      });
      const found: string[] = [];
      const look = async (path: string, axe: AxeBuilder) => {
        const { violations } = await axe.analyze();
        found.push(...violations.map(({ id, nodes }) => `${path}: ${id}: ${nodes[0]?.html.slice(0, 160)}`));
      };
      for (const [index, path] of paths().entries()) {
        await walkTo(page, path);
        // The parts around every page are checked once.
        const axe = new AxeBuilder({ page }).withTags(RULES);
        await look(path, index === 0 ? axe : axe.include('main'));
        // A theme changes only colours.
        await page.emulateMedia({ colorScheme: 'dark' });
        await look(`${path} (dark)`, new AxeBuilder({ page }).withRules(['color-contrast']).include('main'));
        await page.emulateMedia({ colorScheme: 'light' });
        await page.setViewportSize(NARROW);
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
          found.push(`${path}: too wide`);
        await page.setViewportSize(WIDE);
        found.push(...(await page.evaluate(withoutKeys)).map((html) => `${path}: a click without a key: ${html}`));
        expect(await page.evaluate(() => 'hacked' in window), path).toBe(false);
        expect(await page.locator('main img').count(), path).toBe(0);
      }
      expect(found).toEqual([]);
      expect(taking).toEqual([]);
      // Looking at the page has delivered nothing: the consumer that pulls has not been given a message.
      const { data } = await samples.client.deliveries.list({ stage: 'any', consumer: 'audit', limit: 200 });
      expect(data.length).toBeGreaterThan(0);
      expect(data.filter(({ stage, attempts }) => stage !== 'Pending' || attempts > 0)).toEqual([]);
    },
    PATIENCE_MS,
  );

  it('a page without a token asks for one in a dialog, and goes on where it was', async () => {
    const page = await browser.open(`${server.url}/executions?status=Failed`, { token: null });
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.getByLabel('Token or API key').fill('nonsense');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Token or API key').fill(await tokenFor());
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.locator(`[data-execution="${samples.failed}"]`).waitFor();
    expect(new URL(page.url()).search).toBe('?status=Failed');
    expect(browser.complaints.splice(0).every((text) => text.includes('401'))).toBe(true);
  });

  it('actions that a read-only token may not do are disabled, with a reason', async () => {
    const token = await tokenFor({ scope: 'workflows:read', roles: [] });
    const page = await browser.open(`${server.url}/executions/${samples.failed}`, { token });
    const button = page.getByRole('button', { name: /^Fix and continue/ });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('title')).toContain('executions:signal');
    await page.goto(`${server.url}/workflows`);
    const toggle = page.getByRole('switch').first();
    await expect.poll(() => toggle.getAttribute('aria-disabled')).toBe('true');
    browser.complaints.length = 0;
  });

  it('the palette finds pages, workflows and ids', async () => {
    const page = await browser.open(`${server.url}/`);
    await page.locator('h1').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(samples.failed);
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/executions/${samples.failed}`);
  });

  it('a new API key is shown once', async () => {
    const page = await browser.open(`${server.url}/settings`);
    await page.getByRole('button', { name: 'New key…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('for the night');
    await dialog.getByRole('button', { name: /^(Make|Create)/ }).click();
    const key = await page.getByRole('dialog').locator('code').innerText();
    expect(key.length).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.getByText('for the night').waitFor();
    await page.reload();
    await page.getByText('for the night').waitFor();
    expect(await page.content()).not.toContain(key);
  });

  it('a new secret is shown once', async () => {
    const page = await browser.open(`${server.url}/triggers/${samples.webhookTrigger}`);
    await page.getByRole('button', { name: 'New secret' }).click();
    const secret = await page.getByRole('dialog').locator('code').innerText();
    expect(secret.length).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'I have it' }).click();
    await page.reload();
    await page.locator('h1').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  it('every page says within seconds that no runner is alive', async () => {
    const page = await browser.open(`${server.url}/workflows`);
    await page.locator('h1').waitFor();
    const { runnerId } = (await samples.client.admin.runners()).data.find(({ state }) => state === 'live')!;
    await samples.client.admin.drainRunner(runnerId);
    await page
      .getByRole('alert')
      .getByText(/no runner/i)
      .waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('table', { name: 'Runners' }).getByText('Stopped').waitFor();
  });
});
