import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startInTransaction } from '../../src/main.ts';
import { inTransactionOf } from '../../src/store/postgres/start-in-transaction.ts';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { echo, graph } from './workflow-definition.ts';

const engine = engineUnderTest();
const ship = graph('ship', [echo('label', { order: '{{ trigger.order }}' })], {
  triggerSchema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
});

/** A connection of an application that has tables of its own. */
async function application(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: engine.url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('create table if not exists orders (id int primary key)');
  return client;
}

const orders = async () => (await engine.sql<{ id: number }>('select id from orders order by id')).map(({ id }) => id);
const executionsOf = (requestId: string) =>
  engine.sql('select id from workflow_executions where tenant_id = $1 and request_id = $2', [TENANT, requestId]);

describe('an execution started in a transaction of the application', () => {
  it('an execution started in a transaction runs after the commit, and not before', async () => {
    await engine.pawl.publish(ship);
    const client = await application();
    await client.query('begin');
    await client.query('insert into orders values (1)');
    const { executionId, isNew } = await startInTransaction(client, {
      workflowId: 'ship',
      trigger: { order: 1 },
      requestId: 'order-1',
    });
    expect(isNew).toBe(true);
    expect(await executionsOf('order-1')).toEqual([]);
    // Other executions come and go meanwhile. No runner sees the uncommitted execution, and none misses it afterwards.
    expect((await engine.run(ship, { trigger: { order: 0 } })).status).toBe('Succeeded');
    await expect(engine.pawl.executions.get(TENANT, executionId)).rejects.toMatchObject({
      code: 'EXECUTION_NOT_FOUND',
    });
    await client.query('commit');
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { order: 1 } });
    expect(await orders()).toContain(1);
  });

  it('an execution started in a transaction waits for the engine that request, workflow or installation names', async () => {
    await engine.pawl.publish(graph('there', [echo('a')], { driver: 'temporal' }));
    const client = await application();
    const start = (request: Omit<Parameters<typeof startInTransaction>[1], 'workflowId'>, workflowId = 'ship') =>
      startInTransaction(client, { workflowId, trigger: { order: 1 }, ...request });
    await client.query('begin');
    const started = [
      await start({}, 'there'),
      await start({ driver: 'conductor' }),
      await start({ drivers: { default: 'temporal' } }),
      await start({ environmentId: 'prod', drivers: { byEnvironment: { prod: 'temporal' } } }),
      await start({ drivers: { default: 'temporal' }, driver: 'native' }),
    ];
    await client.query('commit');
    expect(await engine.pawl.result(started[4]!.executionId)).toMatchObject({ status: 'Succeeded' });
    const views = await Promise.all(started.map(({ executionId }) => engine.pawl.executions.get(TENANT, executionId)));
    expect(views.map(({ driver, status }) => `${driver ?? 'native'} ${status}`)).toEqual([
      'temporal Pending',
      'conductor Pending',
      'temporal Pending',
      'temporal Pending',
      'native Succeeded',
    ]);
  });

  it('an execution whose transaction is rolled back never existed', async () => {
    const client = await application();
    await client.query('begin');
    await client.query('insert into orders values (2)');
    const { executionId } = await startInTransaction(client, {
      workflowId: 'ship',
      trigger: { order: 2 },
      requestId: 'order-2',
    });
    await client.query('rollback');
    expect(await orders()).not.toContain(2);
    expect(await executionsOf('order-2')).toEqual([]);
    await expect(engine.pawl.executions.get(TENANT, executionId)).rejects.toMatchObject({
      code: 'EXECUTION_NOT_FOUND',
    });
    // The request was never accepted, so the client may make it again.
    const again = await engine.pawl.start('ship', { trigger: { order: 2 }, requestId: 'order-2' });
    expect(again.isNew).toBe(true);
    await engine.pawl.result(again.executionId);
  });

  it('the same request starts one execution, in the same transaction and in later ones', async () => {
    const client = await application();
    const request = { workflowId: 'ship', trigger: { order: 3 }, requestId: 'order-3' };
    await client.query('begin');
    const first = await startInTransaction(client, request);
    expect(await startInTransaction(client, request)).toEqual({ executionId: first.executionId, isNew: false });
    await client.query('commit');
    await client.query('begin');
    expect(await startInTransaction(client, request)).toEqual({ executionId: first.executionId, isNew: false });
    await client.query('commit');
    expect(await engine.pawl.start('ship', { trigger: { order: 3 }, requestId: 'order-3' })).toEqual({
      executionId: first.executionId,
      isNew: false,
    });
    await engine.pawl.result(first.executionId);
    expect(await executionsOf('order-3')).toHaveLength(1);
  });

  it('two open transactions with the same request start one execution', async () => {
    const [one, other] = [await application(), await application()];
    const request = { workflowId: 'ship', trigger: { order: 4 }, requestId: 'order-4' };
    await one.query('begin');
    await other.query('begin');
    const first = await startInTransaction(one, request);
    const second = startInTransaction(other, request);
    await one.query('commit');
    expect(await second).toEqual({ executionId: first.executionId, isNew: false });
    await other.query('commit');
    await engine.pawl.result(first.executionId);
  });

  it('a refused start leaves the transaction of the application usable', async () => {
    const client = await application();
    await engine.pawl.publish(graph('other', [echo('a')]));
    await client.query('begin');
    await client.query('insert into orders values (5)');
    const refuse = (request: object) =>
      startInTransaction(client, { workflowId: 'ship', trigger: { order: 5 }, ...request }).then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
    expect(await refuse({ workflowId: 'nobody' })).toBe('WORKFLOW_NOT_FOUND');
    expect(await refuse({ tenantId: 'stranger' })).toBe('WORKFLOW_NOT_FOUND');
    expect(await refuse({ trigger: {} })).toBe('TRIGGER_INVALID');
    expect(await refuse({ priority: 12 })).toBe('REQUEST_INVALID');
    expect(await refuse({ requestId: 'a\u0000b' })).toBe('REQUEST_INVALID');
    expect(await refuse({ workflowId: 'other', requestId: 'order-1' })).toBe('WFENG001');
    await client.query('commit');
    expect(await orders()).toContain(5);
  });

  it('a start in a transaction finds the schema of Pawl, and keeps the search path of the application', async () => {
    const client = await application();
    await client.query('create schema if not exists app');
    await client.query('begin');
    await client.query(`set local search_path = 'app'`);
    const { executionId } = await startInTransaction(client, {
      schema: 'public',
      workflowId: 'ship',
      trigger: { order: 6 },
    });
    expect((await client.query('show search_path')).rows).toEqual([{ search_path: 'app' }]);
    await client.query('commit');
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });

  it('a start reads times correctly in every session time zone and with the type parsers of the application', async () => {
    const client = await application();
    client.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => text);
    for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
      await client.query('begin');
      await client.query(`set local time zone '${zone}'`);
      const now = await inTransactionOf(client, undefined, (store) => store.now());
      await client.query('rollback');
      expect(now).toBeTypeOf('number');
      expect(now).toBeLessThanOrEqual(await engine.pawl.store.now());
      expect(now).toBeGreaterThan((await engine.pawl.store.now()) - 60_000);
    }
  });

  it('a start leaves no prepared statement and no type parser in the session', async () => {
    const client = await application();
    await client.query('begin');
    const { executionId } = await startInTransaction(client, { workflowId: 'ship', trigger: { order: 7 } });
    await client.query('commit');
    expect((await client.query('select name from pg_prepared_statements')).rows).toEqual([]);
    expect((await client.query(`select '{"a":1}'::json as value`)).rows).toEqual([{ value: { a: 1 } }]);
    await engine.pawl.result(executionId);
  });
});
