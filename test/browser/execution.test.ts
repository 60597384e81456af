import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { durationText } from '../../dashboard/src/model/time.ts';
import type { Fact } from '../../src/core/decider/fact.ts';
import { defineAction } from '../../src/main.ts';
import { tokenFor, useServer } from '../server/api-server.ts';
import { program, useBrowser } from './browser.ts';
import { executionOfRun, fillWithSamples, fulfil, HOSTILE, type SampleData } from './sample-data.ts';

/** The status of a node after its last fact. */
const AFTER: Readonly<Record<string, string>> = {
  none: 'Pending',
  NodeStarted: 'Running',
  NodeSucceeded: 'Succeeded',
  NodeFailed: 'Failed',
  NodeSkipped: 'Skipped',
  RetryScheduled: 'Retrying',
};

const talks = defineAction({
  type: 'test.talks',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ to: z.string() }),
  outputs: z.looseObject({}),
  run({ to }, { attempt, log }) {
    log.info(`line of attempt ${attempt}`);
    if (attempt === 1) throw new Error('nobody listens');
    return { outputs: { answer: `said to ${to}` } };
  },
});

const server = useServer({ engine: { parkAfterMs: 0 }, actions: [talks] });

describe.skipIf(program === null)('the page of an execution', () => {
  const browser = useBrowser();
  let samples: SampleData;
  beforeAll(async () => {
    samples = await fillWithSamples(server.url, await tokenFor());
    return () => samples.stop();
  });
  const open = (id: string, search = '') => browser.open(`${server.url}/executions/${id}${search}`);

  it('the banner on top shows the cause of the failure, and selects its node', async () => {
    const page = await open(samples.failed);
    const banner = page.getByRole('status').filter({ hasText: 'ACTION_FAILED' });
    await banner.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('complementary', { name: 'Node stop' }).waitFor();
    expect(new URL(page.url()).searchParams.get('node')).toBe('stop');
  });

  it('the page shows the time in the queue apart from the time at work', async () => {
    const { createdAt, startedAt, completedAt } = await samples.client.executions.get(samples.failed);
    const [created, started, ended] = [createdAt, startedAt!, completedAt!].map((text) => Date.parse(text)) as [
      number,
      number,
      number,
    ];
    const page = await open(samples.failed);
    const spent = `waited ${durationText(started - created)}, ran ${durationText(ended - started)}`;
    await page.getByRole('heading', { level: 1 }).getByText(spent).waitFor();
    // For a node: its wait for a place, its attempts and the pauses between them, each with its own time.
    await page.getByRole('link', { name: 'Timeline' }).click();
    const row = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').filter({ hasText: 'charge' });
    const parts = await row
      .locator('[title]')
      .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('title') ?? ''));
    expect(parts.filter((text) => text.includes('failed'))).toHaveLength(3);
    expect(parts.filter((text) => text.includes('until the next try'))).toHaveLength(2);
  });

  it('the graph draws loops with items and rounds, waits, joins, an early end and compensations', async () => {
    const { deciding, undone } = await fulfil(samples.client);
    const page = await open(deciding);
    const drawn = page.getByRole('figure', { name: /^Graph of/ });
    for (const text of ['5 items, 1 failed', '3 rounds', 'needs the first 1 of 2', 'needs all 3', 'undoes ship'])
      await drawn.getByText(text).waitFor();
    await drawn.getByText(/^waits for its callback or the event order\.approved or order\.rejected/).waitFor();
    await page.goto(`${server.url}/executions/${undone}`);
    await page.getByText('Cleaned up afterwards: recall, release.').waitFor();
    await page.getByText('OUT_OF_STOCK').first().waitFor();
    await drawn.getByText('undo', { exact: true }).waitFor();
  });

  it('the node panel shows input, output and error of every attempt', async () => {
    const page = await open(samples.failed, '?node=charge');
    const node = page.getByRole('complementary', { name: 'Node charge' });
    await node.getByRole('button', { name: '2', exact: true }).click();
    await node.getByText('2, failed, tried again').waitFor();
    await node.getByText('HTTP_STATUS').waitFor();
    await node.getByText('amount:').waitFor();
    expect(new URL(page.url()).searchParams.get('attempt')).toBe('2');
    await node.getByRole('button', { name: '3', exact: true }).click();
    await node.getByText('"the gateway is down"').waitFor();
  });

  it('the node panel shows input, output and log lines of the selected attempt only', async () => {
    await samples.client.workflows.create({
      id: 'talks',
      displayName: 'Talks',
      startNode: 'talk',
      nodes: [
        {
          id: 'talk',
          actionType: 'test.talks',
          parameters: { to: 'ada' },
          policies: { retry: { maxAttempts: 2, baseDelayMs: 1 } },
        },
      ],
    } as never);
    await samples.client.workflows.publish('talks');
    const { executionId } = await samples.client.executions.execute('talks', {});
    await samples.client.executions.waitFor(executionId, { signal: AbortSignal.timeout(30_000) });
    const page = await open(executionId, '?node=talk');
    const node = page.getByRole('complementary', { name: 'Node talk' });
    await node.getByText('line of attempt 2').waitFor();
    await node.getByText('"said to ada"').waitFor();
    await node.getByText('"ada"', { exact: true }).waitFor();
    expect(await node.getByText('line of attempt 1').count()).toBe(0);
    await node.getByRole('button', { name: '1', exact: true }).click();
    await node.getByText('line of attempt 1').waitFor();
    await node.getByText('nobody listens').waitFor();
    await node.getByText('"ada"', { exact: true }).waitFor();
    expect(await node.getByText('"said to ada"').count()).toBe(0);
  });

  it('a skipped node says why it was skipped', async () => {
    const page = await open(samples.failed, '?node=receipt');
    await page.getByRole('complementary', { name: 'Node receipt' }).getByText('charge failed').waitFor();
    const drawn = page.getByRole('figure', { name: /^Graph of/ });
    await drawn.locator('[data-id="receipt"]').getByText('skipped: charge failed').waitFor();
    await drawn.locator('[data-id="archive"]').getByText('skipped: receipt was skipped, gift was skipped').waitFor();
  });

  it('an edge that was not taken shows its condition and the values that the condition read', async () => {
    const page = await open(samples.succeeded, '?node=gift');
    const edges = page.getByRole('region', { name: 'Comes after' });
    await edges.getByText('not taken', { exact: true }).waitFor();
    await edges.getByText('context.data.fetch.amount > 500').waitFor();
    await expect.poll(() => edges.innerText()).toContain('context.data.fetch.amount = 250');
  });

  it('the page opens the same view after a reload', async () => {
    const page = await open(samples.failed, '?tab=timeline&node=charge&attempt=1');
    const node = page.getByRole('complementary', { name: 'Node charge' });
    await node.getByText('1, failed, tried again').waitFor();
    await page.reload();
    await node.getByText('1, failed, tried again').waitFor();
    await page.getByRole('list', { name: 'Timeline' }).waitFor();
  });

  it('hostile data stays text, also in the data tree', async () => {
    const page = await open(samples.hostile, '?tab=data');
    await page.getByText(HOSTILE.slice(0, 20)).first().waitFor();
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await page.locator('img').count()).toBe(0);
  });

  it('a pipeline with failed tasks is never shown as simply succeeded', async () => {
    const page = await open(samples.waiting);
    await page.getByText('notify').first().waitFor();
    await page.getByText(/failed; the others went on/).waitFor();
  });

  it('the page at fact n shows the state and the events up to fact n', async () => {
    const page = await open(samples.failed, '?at=1');
    await page.getByText('fact 1 of').waitFor();
    await page.getByRole('button', { name: 'List' }).click();
    const nodes = page.getByRole('list', { name: 'Nodes' });
    await nodes.getByText('Pending').first().waitFor();
    expect(await nodes.getByText('Failed').count()).toBe(0);
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText(/^1 event$/).waitFor();
    await page.keyboard.press(']');
    await page.getByText('fact 2 of').waitFor();
    expect(new URL(page.url()).searchParams.get('at')).toBe('2');
    // At any fact: the events up to it, and the status that the last event of each node says.
    const { plan, transitions } = await samples.client.executions.journal(samples.failed);
    const facts = transitions.flatMap((transition) => transition.facts as readonly Fact[]);
    for (const count of [7, 12, facts.length]) {
      await page.goto(`${server.url}/executions/${samples.failed}?at=${count}&tab=events`);
      await page.getByText(`${count} events`).waitFor();
      await page.getByRole('link', { name: 'Graph' }).click();
      await page.getByRole('button', { name: 'List' }).click();
      for (const [index, { id }] of plan!.nodes.entries()) {
        const last = facts.slice(0, count).findLast((fact) => 'node' in fact && fact.node === index)?.type;
        await nodes
          .getByRole('listitem')
          .filter({ hasText: id })
          .getByText(AFTER[last ?? 'none']!)
          .first()
          .waitFor();
      }
    }
  });

  const failedOrder = async () => {
    const { executionId } = await samples.client.executions.execute('orders', {
      trigger: { amount: 10, gateway: `${samples.shopUrl}/charge` },
    });
    await samples.client.executions.waitFor(executionId, { signal: AbortSignal.timeout(30_000) });
    return executionId;
  };

  it('a retry with edited input runs exactly the nodes of the preview again, and a double click counts once', async () => {
    const id = await failedOrder();
    const page = await open(id, '?node=charge');
    await page.getByRole('button', { name: 'Edit input and retry' }).click();
    const dialog = page.getByRole('dialog');
    const input = dialog.getByLabel('Input, as JSON');
    const given = await input.inputValue();
    await input.fill(given.slice(0, -1));
    const go = dialog.getByRole('button', { name: /^Re(try|run)/ });
    await expect.poll(() => go.getAttribute('title')).toContain('not JSON');
    await input.fill(given.replace('/charge', '/ok'));
    await dialog.getByText('Changed: url').waitFor();
    await dialog.getByText('Stays failed: stop').waitFor();
    await dialog.getByLabel('Everything after charge runs again too').check();
    await dialog.getByText('Stays failed').waitFor({ state: 'detached' });
    const preview = await dialog.locator('[data-preview]').innerText();
    const again = /Runs again: (.*)/.exec(preview)![1]!.split(', ');
    expect(preview).toContain('Kept: fetch');
    await go.dblclick();
    await page.locator('h1').getByText('Succeeded', { exact: true }).waitFor();
    const { plan, transitions } = await samples.client.executions.journal(id);
    const facts = transitions.flatMap((transition) => transition.facts as readonly Fact[]);
    const signals = facts.flatMap((fact) => (fact.type === 'SignalApplied' ? [fact.signal] : []));
    expect(signals).toEqual(['INJECT_OVERRIDE', 'RERUN_FROM']);
    const reset = facts.flatMap((fact) => (fact.type === 'NodesReset' ? fact.nodes : []));
    expect(again.toSorted()).toEqual([...new Set(reset.map((node) => plan!.nodes[node]!.id))].toSorted());
    expect((await samples.client.executions.node(id, 'fetch')).attempts).toHaveLength(1);
    await page.getByRole('complementary', { name: 'Node charge' }).getByText('charged:').waitFor();
  });

  it('a failed task of a finished pipeline can be fixed and retried', async () => {
    const { run_id: run } = await samples.client.workflows.trigger('checkout-flow', { cart: 2 });
    const id = executionOfRun(run);
    const page = await open(id);
    await page
      .getByRole('status')
      .getByRole('button', { name: /^Continue/ })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Continue', exact: true }).click();
    const title = page.getByRole('heading', { level: 1 });
    await title.getByText('Completed, 1 failed').waitFor();
    await page.getByRole('button', { name: 'Fix and continue' }).click();
    const dialog = page.getByRole('dialog');
    const input = dialog.getByLabel('Input, as JSON');
    await input.fill((await input.inputValue()).replace('/broken', '/ok'));
    await dialog.getByText('Runs again: notify').waitFor();
    await dialog.getByText('Kept: charge, approval, ship').waitFor();
    await dialog.getByRole('button', { name: /^Retry/ }).click();
    await title.getByText('Succeeded', { exact: true }).waitFor();
    const { attempts } = await samples.client.executions.node(id, 'notify');
    expect(attempts.map(({ status }) => status)).toEqual(['Failed', 'Succeeded']);
    expect((await samples.client.executions.node(id, 'charge')).attempts).toHaveLength(1);
  });

  it('the page shows without a reload that somebody else has retried an ended execution', async () => {
    const id = await failedOrder();
    const page = await open(id, '?node=stop');
    await page.getByText('ACTION_FAILED').first().waitFor();
    await samples.client.executions.retry(id);
    await page
      .getByRole('complementary', { name: 'Node stop' })
      .getByRole('button', { name: '2', exact: true })
      .waitFor();
  });

  it('the items of a loop are listed with failed ones first, and one of them can be opened', async () => {
    const definition = {
      id: 'parcels',
      displayName: 'Parcels',
      startNode: 'ship',
      nodes: [
        {
          id: 'ship',
          actionType: 'core.sometimes-fails',
          parameters: { failTimes: '{{ item }}' },
          forEach: { items: [0, 0, 9, 0], tolerate: 1 },
          policies: { retry: { maxAttempts: 1 } },
        },
      ],
    };
    await samples.client.workflows.create(definition as never);
    await samples.client.workflows.publish('parcels');
    const { executionId } = await samples.client.executions.execute('parcels', {});
    await samples.client.executions.waitFor(executionId, { signal: AbortSignal.timeout(30_000) });
    const page = await open(executionId, '?node=ship');
    const items = page.getByRole('region', { name: 'Items' });
    await items.getByText('3 of 4 done, 1 failed, 0 running').waitFor();
    await items.getByRole('button').first().click();
    const node = page.getByRole('complementary', { name: 'Node ship[2]' });
    await node.getByText('ACTION_FAILED').waitFor();
    await node.getByText('failTimes:').waitFor();
  });

  it('the page misses no fact and shows none twice after the server was away for a while', async () => {
    const { run_id: run } = await samples.client.workflows.trigger('checkout-flow', { cart: 1 });
    const id = executionOfRun(run);
    const page = await open(id);
    await page.getByText('waits for its callback').waitFor();
    await page.context().setOffline(true);
    await samples.client.executions.continueWait(id, 'approval', { ok: true });
    await samples.client.executions.waitFor(id, { signal: AbortSignal.timeout(30_000) });
    await page.context().setOffline(false);
    const { transitions } = await samples.client.executions.journal(id);
    const count = transitions.reduce((sum, { facts }) => sum + facts.length, 0);
    await page.getByText(`fact ${count} of ${count}`).waitFor();
    await page.getByText('Completed, 1 failed').waitFor();
    browser.complaints.length = 0;
  });

  it('a hidden tab sends no requests, and goes on when it is visible again', async () => {
    const page = await open(samples.succeeded);
    await page.clock.install();
    await page.goto(`${server.url}/executions/${samples.sleeping}`);
    await page.getByText('rest').first().waitFor();
    const show = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        const visibilityState = hidden ? 'hidden' : 'visible';
        Object.defineProperty(document, 'visibilityState', { value: visibilityState, configurable: true });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
      }, isHidden);
    await show(true);
    await page.clock.runFor(11_000);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.clock.runFor(60_000);
    expect(asked).toEqual([]);
    await show(false);
    await page.clock.runFor(1_000);
    await expect.poll(() => asked.some((url) => url.includes('/live'))).toBe(true);
  });

  it('the page of 1,000 nodes shows a list first, and the graph draws only the visible nodes', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
    const nodes = ids.map((id, index) => ({
      id,
      actionType: 'core.echo',
      parameters: {},
      edges: index === 0 ? ids.slice(1).map((targetNode) => ({ targetNode })) : [],
    }));
    await samples.client.workflows.create({ id: 'wide', displayName: 'Wide', startNode: 'n0', nodes } as never);
    await samples.client.workflows.publish('wide');
    const { executionId } = await samples.client.executions.execute('wide', {});
    await samples.client.executions.waitFor(executionId, { signal: AbortSignal.timeout(60_000) });
    const page = await open(executionId);
    const list = page.getByRole('list', { name: 'Nodes' });
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1_000);
    await page.getByRole('button', { name: 'Graph' }).click();
    await page.getByRole('figure').locator('.react-flow__node').first().waitFor();
    expect(await page.locator('.react-flow__node').count()).toBeLessThan(1_000);
    await page.getByRole('button', { name: 'List' }).click();
    await list.getByText('n999', { exact: true }).click();
    await page.getByRole('complementary', { name: 'Node n999' }).getByText('Succeeded').first().waitFor();
  }, 120_000);

  it('a log of 20,000 events scrolls to its end, and only the events on the screen are in the page', async () => {
    const page = await open(samples.succeeded);
    await page.route('**/events?*', (route) => {
      const after = Number(new URL(route.request().url()).searchParams.get('after') ?? -1);
      const data = Array.from({ length: 1_000 }, (_, index) => ({
        seq: after + 1 + index,
        ts: '2026-01-01T00:00:00.000Z',
        level: 'Information',
        category: 'Node',
        type: 'NodeStarted',
        data: { attempt: 1 },
      }));
      const last = after + 1_000;
      return route.fulfill({ json: { data, ...(last < 19_999 ? { nextCursor: String(last) } : {}) } });
    });
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText('20,000 events').waitFor();
    const log = page.getByRole('log', { name: 'Events' });
    await log.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
    await log.getByRole('button', { name: 'Details of event 19999' }).waitFor();
    expect(await log.getByRole('button', { name: /^Details/ }).count()).toBeLessThan(200);
  });

  it('the page shows a cancel without a reload', async () => {
    const { executionId } = await samples.client.executions.execute('sync-crm', {});
    const page = await open(executionId);
    await page.getByText('pull').first().waitFor();
    await samples.client.executions.cancel(executionId, { reason: 'enough' });
    await page.getByText('was cancelled').waitFor();
    await page.getByText('Cancelled').first().waitFor();
  });
});
