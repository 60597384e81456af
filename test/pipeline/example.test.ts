// The documented example pipelines. Only the host of the called application is changed.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { makeClockMovable, moveClock } from '../support/moving-clock.ts';
import { useApi } from '../workflow/api.ts';
import { ended, runUntil, statuses, trigger } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi({}, makeClockMovable);
const shop = useShop();

async function createExample(file: string, name?: string): Promise<string> {
  const text = readFileSync(new URL(`../../examples/pipeline/${file}.json`, import.meta.url), 'utf8');
  const definition = JSON.parse(text.replaceAll('https://myapp.com', shop().url)) as JsonObject & { name: string };
  const named = { ...definition, name: name ?? definition.name };
  expect((await api().post('/workflows', named)).status).toBe(201);
  return named.name;
}

describe('order-processing', () => {
  it('order-processing sends the receipt and ships when the charge succeeds', async () => {
    shop().answer('/api/charge', 200, { amount: 42 });
    const name = await createExample('order-processing');
    const run = await ended(api(), name, await trigger(api(), name, { order_id: 123 }));
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({
      charge: 'success',
      'send-receipt': 'success',
      'notify-warehouse': 'success',
      'handle-failure': 'skipped',
    });
    expect(shop().bodies('/api/charge')).toEqual([{ order_id: 123 }]);
    expect(shop().bodies('/api/send-receipt')).toEqual([{ order_id: 123, amount: 42 }]);
  });

  it('order-processing runs handle-failure when the charge fails', async () => {
    shop().answer('/api/charge', 402, { error: 'declined' });
    const run = await ended(api(), 'order-processing', await trigger(api(), 'order-processing', { order_id: 124 }));
    expect(run.status).toBe('completed');
    expect(statuses(run)).toMatchObject({
      charge: 'failed',
      'send-receipt': 'skipped',
      'notify-warehouse': 'skipped',
      'handle-failure': 'success',
    });
  });
});

describe('order-receipt', () => {
  it('order-receipt passes the token from the trigger to the charge', async () => {
    shop().answer('/api/charge', 200, {});
    const name = await createExample('order-receipt', 'order-receipt');
    const body = { order_id: 123, email: 'alice@example.com', token: 'sk_live_xxx' };
    const run = await ended(api(), name, await trigger(api(), name, body));
    expect(statuses(run)).toEqual({ charge: 'success', 'send-receipt': 'success' });
    const charge = shop().received.findLast(({ path }) => path === '/api/charge')!;
    expect(charge.headers.authorization).toBe('Bearer sk_live_xxx');
    expect(shop().bodies('/api/send-receipt').at(-1)).toEqual({ email: 'alice@example.com' });
  });
});

describe('trial-expiry', () => {
  it('trial-expiry sleeps for thirteen days, reminds, and expires a day later', async () => {
    const name = await createExample('trial-expiry');
    const runId = await trigger(api(), name, { user_id: 'u1' });
    const run = await runUntil(api(), name, runId, ({ tasks }) => tasks['wait-13-days']?.status === 'sleeping');
    expect(statuses(run)).toEqual({
      'start-trial': 'success',
      'wait-13-days': 'sleeping',
      'send-reminder': 'pending',
      'wait-1-day': 'pending',
      'expire-trial': 'pending',
    });
    const { started_at: from, wake_at: until } = run.tasks['wait-13-days']!;
    expect(Date.parse(until!) - Date.parse(from!)).toBe(13 * 24 * 3600 * 1000);
    expect(shop().bodies('/api/activate-trial')).toEqual([{ user_id: 'u1' }]);

    await moveClock(api().database.connectionString, '13 days');
    await runUntil(api(), name, runId, ({ tasks }) => tasks['wait-1-day']?.status === 'sleeping');
    expect(shop().bodies('/api/send-email')).toEqual([{ template: 'trial-ending-soon', user_id: 'u1' }]);
    expect(shop().bodies('/api/expire-trial')).toEqual([]);

    await moveClock(api().database.connectionString, '1 day');
    const over = await ended(api(), name, runId);
    expect([over.status, new Set(Object.values(statuses(over)))]).toEqual(['completed', new Set(['success'])]);
    expect(shop().bodies('/api/expire-trial')).toEqual([{ user_id: 'u1' }]);
  });
});

describe('checkout-flow', () => {
  const callbackUrls = () =>
    shop()
      .bodies('/api/create-checkout')
      .map((body) => (body as { callback_url: string }).callback_url);

  it.each([
    ['paid', 'success'],
    ['declined', 'skipped'],
  ])('when the payment is %s, fulfilling is %s', async (payment, fulfilled) => {
    const name = await createExample('checkout-flow', `checkout-${payment}`);
    const runId = await trigger(api(), name, { amount: 12, order_id: 'o1' });
    await runUntil(api(), name, runId, ({ tasks }) => tasks['payment-result']?.status === 'waiting');
    const paid = { status: payment, payment_id: 'p1' };
    expect((await api().post(new URL(callbackUrls().at(-1)!).pathname, paid)).status).toBe(200);
    const run = await ended(api(), name, runId);
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({
      'create-checkout': 'success',
      'payment-result': 'success',
      'fulfill-order': fulfilled,
      'handle-timeout': 'skipped',
    });
  });

  it('checkout-flow handles the timeout when nobody calls back within the hour', async () => {
    const name = await createExample('checkout-flow', 'checkout-forgotten');
    const runId = await trigger(api(), name, { amount: 12, order_id: 'o1' });
    await runUntil(api(), name, runId, ({ tasks }) => tasks['payment-result']?.status === 'waiting');
    await moveClock(api().database.connectionString, '1 hour');
    const run = await ended(api(), name, runId);
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({
      'create-checkout': 'success',
      'payment-result': 'timeout',
      'fulfill-order': 'skipped',
      'handle-timeout': 'success',
    });
    expect((await api().post(new URL(callbackUrls().at(-1)!).pathname, { status: 'paid' })).status).toBe(410);
  });
});
