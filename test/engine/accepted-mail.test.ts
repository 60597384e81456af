// A callback that was accepted counts, also when its wait ran out before anybody read it (I10).

import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { callbackToken } from '../../src/engine/callback-token.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';

// Accepts; the runners are other engines, which come when it is too late.
const engine = engineUnderTest({ runner: false });
const never = 600_000;
const PAID = { status: 'paid' };

const untilOver = (executionId: string) =>
  eventually(
    async () =>
      (
        await engine.sql<{ is_over: boolean }>(
          `select clock_timestamp() > max(at) + interval '1 second' as is_over from execution_events where execution_id = $1`,
          [executionId],
        )
      )[0]!.is_over,
  ).toBe(true);

it('when no runner was there until the time was over', async () => {
  const runner = await engine.open();
  const definition: JsonObject = { name: 'nobody-there', tasks: { hook: { wait_for_webhook: { timeout: '1s' } } } };
  const executionId = await engine.start(definition);
  await eventually(() => engine.queueState(executionId)).toBe('parked');
  await runner.close();
  const token = callbackToken(await engine.pawl.store.secretGet({ name: 'callback' }), { executionId, nodeId: 'hook' });
  expect(await engine.pawl.executions.callBack(token, PAID)).toBe('accepted');
  await untilOver(executionId);
  await engine.open();
  await engine.pawl.result(executionId);
  expect(await engine.attempts(executionId)).toMatchObject([{ nodeId: 'hook', status: 'Succeeded', outputs: PAID }]);
});

it('when the hint got lost, and the time was over before the next look', async () => {
  await engine.open({ engine: { inboxPollMs: never, parkAfterMs: never } });
  const definition: JsonObject = { name: 'hint-lost', tasks: { hook: { wait_for_webhook: { timeout: '1s' } } } };
  const executionId = await engine.start(definition);
  await eventually(() => engine.nodes(executionId)).toEqual({ hook: 'Waiting' });
  const body = JSON.stringify({ kind: 'webhook', nodeId: 'hook', payload: PAID });
  const message = {
    id: '0190d2c0-0000-7000-8000-000000000000',
    executionId,
    kind: 'webhook',
    key: 'hook',
    body,
  } as const;
  expect(await engine.pawl.store.inboxSend({ tenantId: TENANT, message })).toMatchObject({ live: true });
  await engine.pawl.result(executionId);
  expect(await engine.attempts(executionId)).toMatchObject([{ nodeId: 'hook', status: 'Succeeded', outputs: PAID }]);
});
