// wait_for_webhook from end to end: an earlier task hands out the URL, and the receiver calls back (I10).

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { type Refusal, useApi } from '../workflow/api.ts';
import { create, ended, type Run, runUntil, statuses, trigger } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi();
const shop = useShop();

const call = (path: string, rest: JsonObject = {}): JsonObject => ({ url: `${shop().url}${path}`, ...rest });

/** A checkout whose payment is confirmed by a callback. Returns the run and the path of the callback. */
async function checkout(
  name: string,
  wait: JsonObject,
  before: JsonObject = {},
): Promise<{ runId: string; path: string }> {
  await create(api(), name, {
    open: call(`/open-${name}`, { body: { callback_url: '{{wait.paid.url}}' } }),
    ...before,
    paid: { needs: ['open', ...Object.keys(before)], wait_for_webhook: wait },
    ship: call(`/ship-${name}`, {
      needs: ['paid'],
      if: "tasks.paid.status == 'received'",
      body: { id: '{{tasks.paid.body.payment_id}}' },
    }),
    expire: call(`/expire-${name}`, { needs: ['paid'], if: "tasks.paid.status == 'timeout'" }),
  });
  const runId = await trigger(api(), name);
  await runUntil(api(), name, runId, ({ tasks }) => tasks.open?.status === 'success');
  const [{ callback_url: url }] = shop().bodies(`/open-${name}`) as [{ callback_url: string }];
  expect(url.startsWith(`${api().url}/wh/`)).toBe(true);
  return { runId, path: url.slice(api().url.length) };
}

const callBack = (path: string, body: Json = { payment_id: 'p-1' }, headers: Record<string, string> = {}) =>
  api().post<Refusal>(path, body, headers);
const isWaiting = ({ tasks }: Run) => tasks.paid?.status === 'waiting';

describe('a callback', () => {
  it('the first of many callbacks continues the run, and all get the same answer', async () => {
    const { runId, path } = await checkout('paid', { timeout: '1h' });
    const waiting = await runUntil(api(), 'paid', runId, isWaiting);
    expect(waiting.tasks.paid).toMatchObject({ status_code: null, wake_at: expect.any(String) });
    const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => callBack(path, { payment_id: `p-${i}` })));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const run = await ended(api(), 'paid', runId);
    expect(statuses(run)).toEqual({ open: 'success', paid: 'success', ship: 'success', expire: 'skipped' });
    expect(shop().bodies('/ship-paid')).toHaveLength(1);
    expect((await callBack(path)).status).toBe(200);
    const { tasks } = (await api().get<{ data: Run }>(`/workflows/paid/runs/${runId}?include=body`)).body.data;
    expect(tasks.paid!.response_body).toEqual({ payment_id: (shop().bodies('/ship-paid')[0] as JsonObject).id });
  });

  it('a callback that comes before the wait begins is kept for it', async () => {
    const { runId, path } = await checkout('early', { timeout: '1h' }, { nap: { sleep: 1 } });
    expect((await callBack(path)).status).toBe(200);
    const run = await ended(api(), 'early', runId);
    expect(statuses(run)).toMatchObject({ nap: 'success', paid: 'success', ship: 'success' });
    expect(shop().bodies('/ship-early')).toEqual([{ id: 'p-1' }]);
  });

  it('an early callback for a wait that is then skipped gets the same answer when sent again', async () => {
    const tasks = {
      open: call('/open-unused', { body: { callback_url: '{{wait.paid.url}}' } }),
      check: { needs: ['open'], sleep: 1 },
      paid: { needs: ['check'], if: "tasks.check.status == 'failed'", wait_for_webhook: {} },
      hold: { needs: ['check'], wait_for_webhook: {} },
    };
    await create(api(), 'unused', tasks);
    const runId = await trigger(api(), 'unused');
    await runUntil(api(), 'unused', runId, ({ tasks: { open } }) => open?.status === 'success');
    const [{ callback_url: url }] = shop().bodies('/open-unused') as [{ callback_url: string }];
    const again = async () => (await callBack(url.slice(api().url.length))).status;
    expect(await again()).toBe(200);
    await runUntil(api(), 'unused', runId, ({ tasks: { paid } }) => paid?.status === 'skipped');
    expect(await again()).toBe(200);
    await api().post(`/workflows/unused/runs/${runId}/cancel`);
    await ended(api(), 'unused', runId);
    expect(await again()).toBe(200);
  });

  it('a wait without a callback in time ends as a timeout, and a late callback gets 410', async () => {
    const { runId, path } = await checkout('late', { timeout: 1 });
    const run = await ended(api(), 'late', runId);
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({ open: 'success', paid: 'timeout', ship: 'skipped', expire: 'success' });
    const late = await callBack(path);
    expect([late.status, late.body.error.code]).toEqual([410, 'CALLBACK_GONE']);
  });

  it('a callback to a cancelled run gets 410', async () => {
    const { runId, path } = await checkout('stopped', {});
    await runUntil(api(), 'stopped', runId, isWaiting);
    await api().post(`/workflows/stopped/runs/${runId}/cancel`);
    await ended(api(), 'stopped', runId);
    expect((await callBack(path)).status).toBe(410);
  });

  it('a callback with a forged token gets 404', async () => {
    const { path } = await checkout('guarded', {});
    const { path: other } = await checkout('victim', {});
    const [id, , seal] = path.slice('/wh/'.length).split('.');
    const [otherId, otherNode] = other.slice('/wh/'.length).split('.');
    for (const token of [
      'nonsense',
      `${id}.cGFpZA.${seal!.split('').reverse().join('')}`,
      `${otherId}.${otherNode}.${seal}`,
      `${id}..${seal}`,
    ]) {
      expect([token, (await callBack(`/wh/${token}`)).status]).toEqual([token, 404]);
    }
  });

  it('a callback over 256 KB is cut there, and a template that reads it fails with the reason', async () => {
    const { runId, path } = await checkout('large', {});
    const text = JSON.stringify({ payment_id: 'p-1', filler: 'é'.repeat(200 * 1024) });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${api().url}${path}`, { method: 'POST', headers, body: text });
    expect(reply.status).toBe(200);
    await ended(api(), 'large', runId);
    const { tasks } = (await api().get<{ data: Run }>(`/workflows/large/runs/${runId}?include=body`)).body.data;
    expect(tasks.paid).toMatchObject({ status: 'success', is_truncated: true });
    const kept = tasks.paid!.response_body as string;
    expect(text.startsWith(kept)).toBe(true);
    expect(256 * 1024 - Buffer.byteLength(kept)).toBeLessThanOrEqual(1);
    expect(tasks.ship).toMatchObject({
      status: 'template_error',
      error_message:
        "Cannot read 'body.payment_id' because the response from 'paid' exceeded the 256KB limit and was truncated",
    });
  });

  it('an early callback over 256 KB is cut as well', async () => {
    const { runId, path } = await checkout('early-large', {}, { nap: { sleep: 1 } });
    expect((await callBack(path, { payment_id: 'p-1', filler: 'x'.repeat(300 * 1024) })).status).toBe(200);
    const run = await ended(api(), 'early-large', runId);
    expect(run.tasks.paid).toMatchObject({ status: 'success', is_truncated: true });
    expect(run.tasks.ship!.error_message).toMatch(/exceeded the 256KB limit/);
  });

  it('a callback is read as JSON whenever it is JSON', async () => {
    const { runId, path } = await checkout('undeclared', {});
    const body = new TextEncoder().encode('{"payment_id":"p-9"}');
    expect((await fetch(`${api().url}${path}`, { method: 'POST', body })).status).toBe(200);
    const run = await ended(api(), 'undeclared', runId);
    expect(run.tasks.paid).toMatchObject({ status: 'success', is_truncated: false });
    expect(shop().bodies('/ship-undeclared')).toEqual([{ id: 'p-9' }]);
  });

  it.each(['', 'garbage', 'application/', 'json; charset=utf-8'])(
    'a callback may come with a useless content type: "%s"',
    async (type) => {
      const name = `type-${type.replaceAll(/[^a-z0-9]/g, '-')}`;
      const { runId, path } = await checkout(name, {});
      const reply = await callBack(path, { payment_id: 'p-3' }, { 'content-type': type });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      await ended(api(), name, runId);
      expect(shop().bodies(`/ship-${name}`)).toEqual([{ id: 'p-3' }]);
    },
  );

  it('a callback may carry any content', async () => {
    const { runId, path } = await checkout('form', {});
    const response = await fetch(`${api().url}${path}`, { method: 'POST', body: 'payment_id=7' });
    expect(response.status).toBe(200);
    await ended(api(), 'form', runId);
    const { tasks } = (await api().get<{ data: Run }>(`/workflows/form/runs/${runId}?include=body`)).body.data;
    expect(tasks.paid).toMatchObject({ status: 'success', response_body: 'payment_id=7' });
    expect(tasks.ship).toMatchObject({ status: 'template_error' });
  });
});
