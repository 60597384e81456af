// Webhooks on a server that demands no proof of the sender: a developer's own machine.

import { expect, it } from 'vitest';
import { chain, echo, useServer } from '../server/api-server.ts';
import { createTrigger, sendWebhook } from './trigger-api.ts';

const server = useServer({ auth: { allowLooseAuth: true }, trigger: { enableSchedules: false } });

it('a webhook needs no secret here, but a webhook that has one is still checked', async () => {
  await server.pawl.publish(chain('open', echo('say')));
  const open = await createTrigger(server, { workflowId: 'open', triggerType: 'Webhook' });
  expect(open).toMatchObject({ hasSecret: false });
  expect((await sendWebhook(server, open.id, {})).status).toBe(202);
  const headers = { 'webhook-id': 'same' };
  const [first, second] = [
    await sendWebhook(server, open.id, { headers }),
    await sendWebhook(server, open.id, { headers }),
  ];
  expect([first.status, second.status]).toEqual([202, 200]);
  expect(second.body).toEqual(first.body);

  const config = { generateSecret: true };
  const closed = await createTrigger(server, { workflowId: 'open', triggerType: 'Webhook', config });
  expect((await sendWebhook(server, closed.id, {})).status).toBe(401);
  expect((await sendWebhook(server, closed.id, { secret: closed.secret as string })).status).toBe(202);
});
