// What is answered to a callback is true: accepted counts, also when the wait ran out before anybody read it (I10).

import pg from 'pg';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';

// Accepts; the runners are other engines, which come when it is too late.
const engine = engineUnderTest({ runner: false });
const never = 600_000;
const PAID = { status: 'paid' };

async function callBack(executionId: string): Promise<string> {
  const key = await engine.pawl.store.secretGet({ name: 'callback' });
  return engine.pawl.executions.callBack(callbackToken(key, { executionId, nodeId: 'hook' }), PAID);
}

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
  expect(await callBack(executionId)).toBe('accepted');
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

it('and is refused while the end of the wait is on its way to the database', async () => {
  await engine.open({ engine: { inboxPollMs: never, parkAfterMs: never } });
  const executionId = await engine.start({ name: 'ending', tasks: { hook: { wait_for_webhook: { timeout: '1s' } } } });
  await eventually(() => engine.nodes(executionId)).toEqual({ hook: 'Waiting' });
  const client = new pg.Client({ connectionString: engine.url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table execution_events in exclusive mode');
  const count = async (sql: string) => (await engine.sql(sql)).length;
  // Only the engine's own write: other databases of the server, and the autovacuum of this one, wait for locks as well.
  const waiting = `select from pg_locks where not granted and mode = 'RowExclusiveLock' and relation = 'execution_events'::regclass
    and database = (select oid from pg_database where datname = current_database())`;
  await eventually(() => count(waiting)).toBeGreaterThan(0);
  const answer = callBack(executionId);
  await eventually(() => count('select from execution_inbox')).toBe(1);
  await client.query('rollback');
  await client.end();
  expect(await answer).toBe('gone');
  await engine.pawl.result(executionId);
  expect(await engine.nodes(executionId)).toEqual({ hook: 'TimedOut' });
});

it('but what was cancelled since ends as cancelled', async () => {
  const runner = await engine.open();
  const executionId = await engine.start({ name: 'cancelled-since', tasks: { hook: { wait_for_webhook: {} } } });
  await eventually(() => engine.queueState(executionId)).toBe('parked');
  await runner.close();
  expect(await callBack(executionId)).toBe('accepted');
  await engine.pawl.executions.cancel(TENANT, executionId);
  await engine.open();
  expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
});
