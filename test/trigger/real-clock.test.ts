// A schedule from end to end, by the real clock.

import { expect, it } from 'vitest';
import { useServer } from '../server/api-server.ts';
import { createTrigger, firings, publishEcho } from './trigger-api.ts';

const server = useServer({ trigger: { pollMs: 50 } });

it('a schedule fires by itself, each slot once, and never early', async () => {
  await publishEcho(server, 'ticking');
  const config = { cron: '* * * * * *' };
  const { id } = await createTrigger(server, { workflowId: 'ticking', triggerType: 'Schedule', config });
  await expect.poll(async () => (await firings(server, id)).length).toBeGreaterThan(2);
  const recorded = (await firings(server, id)) as { slot: string; firedAt: string; executionId: string }[];
  expect(new Set(recorded.map(({ slot }) => slot)).size).toBe(recorded.length);
  for (const { slot, firedAt } of recorded) expect(firedAt > slot).toBe(true);
  const { executionId } = recorded[0]!;
  expect(await server.pawl.result(executionId, { tenantId: 'acme' })).toMatchObject({ status: 'Succeeded' });
});
