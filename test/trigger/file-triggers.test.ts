// Triggers that a workflow file declares are created, changed and removed when the file is published.

import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { useServer } from '../server/api-server.ts';
import { createTrigger } from './trigger-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });

const nightly = { name: 'nightly', triggerType: 'Schedule', config: { cron: '0 3 * * *', payload: { of: 'night' } } };
const paid = {
  name: 'paid',
  triggerType: 'Event',
  config: { eventType: 'order.paid' },
  activationCondition: 'trigger.n > 1',
};
const hook = { name: 'hook', triggerType: 'Webhook', config: { generateSecret: true } };

const file = (triggers: JsonObject[]): JsonObject => ({
  id: 'whole',
  displayName: 'Whole',
  startNode: 'a',
  triggers,
  nodes: [{ id: 'a', actionType: 'core.echo', parameters: { n: triggers.length } }],
});

async function publish(triggers: JsonObject[]): Promise<number> {
  await server.post('/api/v1/workflows/whole/draft', {});
  const saved = await server.post('/api/v1/workflows', file(triggers));
  expect(saved.status).toBeLessThan(300);
  return (await server.post('/api/v1/workflows/whole/publish', {})).status;
}

const listed = async (): Promise<JsonObject[]> =>
  (await server.get('/api/v1/triggers?workflowId=whole')).body.data as JsonObject[];
const names = async () => (await listed()).map(({ config }) => (config as JsonObject).name).toSorted();

it('triggers of a workflow file follow the file, and triggers made by hand stay', async () => {
  expect(await publish([nightly, paid, hook])).toBe(200);
  expect(await names()).toEqual(['hook', 'nightly', 'paid']);
  const before = await listed();
  expect(before.find(({ triggerType }) => triggerType === 'Webhook')).toMatchObject({ hasSecret: true });
  await createTrigger(server, { workflowId: 'whole', triggerType: 'Manual', config: { name: 'by-hand' } });

  expect(await publish([{ ...nightly, config: { cron: '0 4 * * *' } }, hook])).toBe(200);
  expect(await names()).toEqual(['by-hand', 'hook', 'nightly']);
  const after = await listed();
  const idOf = (list: JsonObject[], type: string) => list.find(({ triggerType }) => triggerType === type)?.id;
  expect(idOf(after, 'Schedule')).toBe(idOf(before, 'Schedule'));
  expect(idOf(after, 'Webhook')).toBe(idOf(before, 'Webhook'));
  expect(after.find(({ triggerType }) => triggerType === 'Schedule')?.config).toEqual({
    cron: '0 4 * * *',
    name: 'nightly',
  });

  expect(await publish([])).toBe(200);
  expect(await names()).toEqual(['by-hand']);
});

it('validating a workflow file reports every problem of its triggers', async () => {
  const wrong = file([
    { name: 'a', triggerType: 'Schedule', config: { cron: 'never' } },
    { name: 'a', triggerType: 'Webhook', config: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } },
    { name: 'b', triggerType: 'Event', config: { eventType: 'x', filter: 'event.' } },
  ]);
  const { body } = await server.post('/api/v1/workflows/validate', wrong);
  const found = (body.problems as JsonObject[]).map(({ path, code }) => `${path} ${code}`);
  expect(found).toEqual([
    '/triggers/0/config/cron CONFIG_INVALID',
    '/triggers/1/config/secret SECRET_IN_DEFINITION',
    '/triggers/1/name DUPLICATE_ID',
    '/triggers/2/config/filter BAD_CONDITION',
  ]);
});
