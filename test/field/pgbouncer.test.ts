// Behind PgBouncer, as many people run PostgreSQL. A session pooler works like PostgreSQL. A transaction pooler works together
// with a direct URL, and is refused without one, with the reason.

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

  it('a transaction pooler is recognised', async () => {
    expect(await isTransactionPooler(new Address(pooler.connectionString))).toBe(true);
    expect(await isTransactionPooler(new Address(database.connectionString))).toBe(false);
  });

  it('a transaction pooler without a direct URL is refused with the reason', async () => {
    const opening = createPawl({ database: { url: pooler.connectionString } });
    await expect(opening).rejects.toThrow(/transaction pooler.*database\.directUrl/s);
  });

  it('a transaction pooler with a direct URL runs many executions', { timeout: 60_000 }, async () => {
    await complete({ url: pooler.connectionString, directUrl: database.connectionString }, 100);
  });

  it('Pawl leaves no setting on the server connections of a transaction pooler', async () => {
    await complete({ url: pooler.connectionString, directUrl: database.connectionString }, 5);
    const settings = await withClient(pooler.connectionString, (client) =>
      client.query(`select current_setting('enable_seqscan') as seqscan, current_setting('plan_cache_mode') as mode`),
    );
    expect(settings.rows).toEqual([{ seqscan: 'on', mode: 'auto' }]);
  });

  it('several migrations at once through a transaction pooler apply each once and leave no lock', async () => {
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

  it('the doctor reports a transaction pooler with the fix, and accepts the fixed setup', async () => {
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
  it('a session pooler with its defaults works like PostgreSQL', { timeout: 60_000 }, async () => {
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

/** Runs `count` executions with a retry and a sleep to their end. */
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
