// Behind PgBouncer, as many people have their PostgreSQL: a session pooler works as PostgreSQL does; a transaction pooler works with
// a direct URL beside it, and is refused without one, with the reason.

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPawl, inspectDatabase, migrateUp, type PawlOptions } from '../../src/main.ts';
import { Address } from '../../src/store/connection/address.ts';
import { isTransactionPooler } from '../../src/store/connection/pooling.ts';
import { pawl } from '../cli/dev-process.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';
import { findPgBouncer, type PgBouncer, startPgBouncer } from './pgbouncer.ts';

const isHere = findPgBouncer() !== null;
if (!isHere) console.warn('SKIPPED: the tests behind PgBouncer. To run them: apt-get install pgbouncer');

const WORKFLOW = {
  id: 'retries-and-sleeps',
  displayName: 'Retries and sleeps',
  startNode: 'flaky',
  nodes: [
    {
      id: 'flaky',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 1, said: '{{ trigger.word }}' },
      policies: { retry: { maxAttempts: 3, baseDelayMs: 10 } },
      edges: [{ targetNode: 'nap' }],
    },
    { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 20 }, edges: [{ targetNode: 'last' }] },
    { id: 'last', actionType: 'core.echo', parameters: { said: '{{ context.data.flaky.said }}' } },
  ],
};

describe.runIf(isHere)('a transaction pooler', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  beforeAll(async () => {
    database = await testDatabase();
    pooler = await startPgBouncer({
      databaseUrl: database.connectionString,
      poolMode: 'transaction',
      settings: { ignore_startup_parameters: 'options', default_pool_size: 6 },
    });
  });
  afterAll(async () => {
    await pooler.stop();
    await database.drop();
  });

  it('is recognised', async () => {
    expect(await isTransactionPooler(new Address(pooler.connectionString))).toBe(true);
    expect(await isTransactionPooler(new Address(database.connectionString))).toBe(false);
  });

  it('is refused without a direct URL, with the reason', async () => {
    const opening = createPawl({ database: { url: pooler.connectionString } });
    await expect(opening).rejects.toThrow(/transaction pooler.*database\.directUrl/s);
  });

  it('runs many executions beside a direct URL', { timeout: 60_000 }, async () => {
    await complete({ url: pooler.connectionString, directUrl: database.connectionString }, 100);
  });

  it('leaves no setting of ours on its server connections', async () => {
    await complete({ url: pooler.connectionString, directUrl: database.connectionString }, 5);
    const settings = await withClient(pooler.connectionString, (client) =>
      client.query(`select current_setting('enable_seqscan') as seqscan, current_setting('plan_cache_mode') as mode`),
    );
    expect(settings.rows).toEqual([{ seqscan: 'on', mode: 'auto' }]);
  });

  it('is left without a lock by a migration, and takes several at once', async () => {
    const options = { connectionString: pooler.connectionString, schema: 'pooled' };
    const results = await Promise.all(Array.from({ length: 4 }, () => migrateUp(options)));
    const applied = results.flatMap((result) => result.applied);
    expect(applied).toHaveLength(new Set(applied).size);
    expect(await migrateUp(options)).toEqual({ applied: [] });
    const locks = await withClient(database.connectionString, (client) =>
      client.query(
        `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
      ),
    );
    expect(locks.rowCount).toBe(0);
  });

  it('is told by the doctor, with the fix, which makes the doctor content', async () => {
    const { connectionString } = pooler;
    expect(await inspectDatabase({ connectionString, schema: 'public' })).toMatchObject({ isTransactionPooler: true });
    const alone = await pawl({ DATABASE_URL: connectionString }, 'doctor', '--port', '0');
    expect(alone.stdout).toMatch(
      /✗ pooler +DATABASE_URL leads through a transaction pooler.*\n.*PAWL_DATABASE_DIRECT_URL/,
    );
    const environment = { DATABASE_URL: connectionString, PAWL_DATABASE_DIRECT_URL: database.connectionString };
    const beside = await pawl(environment, 'doctor', '--port', '0');
    expect(beside.stdout).toMatch(/✓ settings +arrive in every transaction through the pooler/);
    expect(beside.stdout).toMatch(/✓ notifications/);
  });
});

describe.runIf(isHere)('a session pooler', () => {
  it('works as PostgreSQL does, with its own defaults', { timeout: 60_000 }, async () => {
    const database = await testDatabase();
    const pooler = await startPgBouncer({
      databaseUrl: database.connectionString,
      poolMode: 'session',
      settings: { default_pool_size: 40 },
    });
    onTestFinished(async () => {
      await pooler.stop();
      await database.drop();
    });
    await complete({ url: pooler.connectionString }, 20);
    expect(await inspectDatabase({ connectionString: pooler.connectionString, schema: 'public' })).toMatchObject({
      isTransactionPooler: false,
      notifications: true,
    });
  });
});

/** So many executions with a retry and a sleep, to their end. */
async function complete(database: NonNullable<PawlOptions['database']>, count: number): Promise<void> {
  const opened = await createPawl({ database });
  try {
    await opened.publish(WORKFLOW);
    const words = Array.from({ length: count }, (_, index) => `word ${index}`);
    const started = await Promise.all(words.map((word) => opened.start(WORKFLOW.id, { trigger: { word } })));
    const results = await Promise.all(started.map(({ executionId }) => opened.result(executionId)));
    expect(results.map(({ outputs }) => outputs)).toEqual(words.map((said) => ({ said })));
  } finally {
    await opened.close();
  }
}
