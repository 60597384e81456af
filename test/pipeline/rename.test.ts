// A pipeline under a new name: what moves with it, and what stays.

import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { type Refusal, useApi } from '../workflow/api.ts';
import { create, ended, executionIdOf, trigger } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi();
const shop = useShop();

const call = (path = '/ok', rest: JsonObject = {}): JsonObject => ({ url: `${shop().url}${path}`, ...rest });

it('a renamed pipeline keeps its id, its webhook and its runs, and runs in flight end', async () => {
  const { body } = await create(
    api(),
    'old-name',
    { nap: { sleep: '1s' }, a: call('/ok', { needs: ['nap'] }) },
    { trigger: 'webhook', enabled: true },
  );
  const inFlight = await trigger(api(), 'old-name');
  const renamed = await api().send<{ data: JsonObject }>('PUT', '/workflows/old-name', {
    name: 'new-name',
    tasks: { b: call() },
  });
  expect(renamed.body.data).toMatchObject({
    id: body.data.id,
    name: 'new-name',
    inserted_at: body.data.inserted_at,
    webhook_url: body.data.webhook_url,
  });
  expect((await api().get('/workflows/old-name')).status).toBe(404);
  expect((await api().post('/workflows/old-name/trigger', {})).status).toBe(404);

  await api().pawl.result(executionIdOf(inFlight));
  expect((await ended(api(), 'new-name', inFlight)).tasks).toHaveProperty('a');
  const after = await trigger(api(), body.data.id);
  expect((await ended(api(), 'new-name', after)).tasks).toHaveProperty('b');
  const { body: runs } = await api().get<{ data: { id: string }[] }>('/workflows/new-name/runs');
  expect(runs.data.map(({ id }) => id)).toEqual([after, inFlight]);

  // The old name is free, and the pipeline can be renamed back.
  await create(api(), 'old-name', { c: call() });
  const taken = await api().send<Refusal>('PUT', '/workflows/new-name', { name: 'old-name', tasks: { b: call() } });
  expect([taken.status, taken.body.error.code]).toEqual([409, 'WORKFLOW_EXISTS']);
  await api().send('DELETE', '/workflows/old-name');
  const back = await api().send<{ data: JsonObject }>('PUT', '/workflows/new-name', {
    name: 'old-name',
    tasks: { b: call() },
  });
  expect(back.body.data).toMatchObject({ id: body.data.id, name: 'old-name', webhook_url: body.data.webhook_url });
});

it('renaming a pipeline to an invalid name is refused', async () => {
  await create(api(), 'well-named', { a: call() });
  const { status } = await api().send('PUT', '/workflows/well-named', { name: 'Not A Name', tasks: { a: call() } });
  expect(status).toBe(400);
  expect((await api().get('/workflows/well-named')).status).toBe(200);
});
