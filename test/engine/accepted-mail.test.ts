// The answer to a callback is true: a callback that was accepted counts, even if the wait ran out before a runner read the
// callback (I10).

import pg from 'pg';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';

// This engine only accepts requests. The runners are other engines, which start when it is too late.
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

it('a callback accepted while no runner was up counts, although the wait has timed out since', async () => {
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

it('a callback accepted without a hint counts, although the wait timed out before the next inbox poll', async () => {
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

it('a callback is refused while the timeout of the wait is being written to the database', async () => {
  await engine.open({ engine: { inboxPollMs: never, parkAfterMs: never } });
  const executionId = await engine.start({ name: 'ending', tasks: { hook: { wait_for_webhook: { timeout: '1s' } } } });
  await eventually(() => engine.nodes(executionId)).toEqual({ hook: 'Waiting' });
  const client = new pg.Client({ connectionString: engine.url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table execution_events in exclusive mode');
  const count = async (sql: string) => (await engine.sql(sql)).length;
  // Count only the engine's own write. Other databases of the server, and the autovacuum of this one, wait for locks too.
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

it('an execution cancelled after an accepted callback ends as Cancelled', async () => {
  const runner = await engine.open();
  const executionId = await engine.start({ name: 'cancelled-since', tasks: { hook: { wait_for_webhook: {} } } });
  await eventually(() => engine.queueState(executionId)).toBe('parked');
  await runner.close();
  expect(await callBack(executionId)).toBe('accepted');
  await engine.pawl.executions.cancel(TENANT, executionId);
  await engine.open();
  expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
});
