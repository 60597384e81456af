// The real dbt, from end to end: the example plan compiles, runs and tests a project on DuckDB, and failures get the right code.
// `npm run servers` obtains dbt; without dbt these tests are skipped, and say so.

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cacheFolder } from '../../src/config/config.ts';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { stepOutputSchema } from '../../src/protocol/step-output.ts';
import { type TestDatabase, tablesWith, testDatabase, withClient } from '../support/database.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/plan');
const isThere = existsSync(join(cacheFolder(), 'dbt', 'bin', 'dbt'));
if (!isThere) console.warn('SKIPPED: the tests of dbt. Run `npm run servers` to obtain dbt.');

// dbt takes seconds to start, and much longer on a busy machine.
describe.skipIf(!isThere)('a plan of dbt steps', { timeout: 300_000 }, () => {
  let database: TestDatabase;
  let warehouse: TestDatabase;
  let pawl: Pawl;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pawl-dbt-test-'));
    cpSync(join(EXAMPLES, 'shop'), join(folder, 'shop'), { recursive: true });
    database = await testDatabase();
    warehouse = await testDatabase({ empty: true });
    pawl = await createPawl({
      database: { url: database.connectionString },
      dbt: { folder: [folder] },
      artifact: { folder: join(folder, 'artifacts') },
      definition: { retryMaxAttempts: 1 },
      secrets: [{ name: 'test', get: () => new URL(warehouse.connectionString).password }],
    });
  });
  afterAll(async () => {
    await pawl?.close();
    await database?.drop();
    await warehouse?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Processes whose command line names the folder of this test. */
  const dbtProcesses = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${folder}/shop`);
      } catch {
        return false;
      }
    });
  const textsBelow = (root: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));

  async function run(definition: Json) {
    const { workflowId } = await pawl.publish(definition);
    const { executionId } = await pawl.start(workflowId);
    const result = await pawl.result(executionId);
    return { executionId, result };
  }

  const step = (stepId: string, type: string, inputs: JsonObject) => ({ stepId, type, inputs, timeout: '5m' });
  const planOf = (planId: string, steps: readonly JsonObject[]): JsonObject => ({
    metadata: { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' },
    scope: { tenantId: 'default', projectId: 'shop', environmentId: 'test', repoSha: 'abc' },
    steps: [...steps],
  });

  it('the dbt example compiles, runs and tests, and each step leaves a StepOutput with artifacts', async () => {
    const definition = JSON.parse(await readFile(join(EXAMPLES, 'dbt-orders.json'), 'utf8')) as Json;
    const { executionId, result } = await run(definition);
    expect(result).toMatchObject({ status: 'Succeeded' });
    const rows = await pawl.store.artifactList({ tenantId: 'default', executionId, afterId: null, limit: 50 });
    expect(rows.map(({ nodeId, kind }) => `${nodeId} ${kind}`).toSorted()).toEqual(
      ['compile', 'run', 'test'].flatMap((node) => [
        `${node} dbt-manifest`,
        `${node} dbt-run-results`,
        `${node} log-bundle`,
      ]),
    );
    const output = stepOutputSchema.parse(result.outputs);
    expect(output).toMatchObject({
      status: 'SUCCESS',
      metadata: { command: 'test', counts: { passed: 3, failed: 0 } },
    });
  });

  it('a dbt step fails for good when a data test fails, and the error names the test', async () => {
    const strict = step('strict', 'DBT_TEST', { project: 'shop', select: 'no_small_orders' });
    const { result } = await run(planOf('dbt-strict', [strict]));
    expect(result).toMatchObject({
      status: 'Failed',
      error: { code: 'DBT_TEST_FAILED', message: expect.stringContaining('no_small_orders'), nodeId: 'strict' },
    });
  });

  it('a dbt step fails for good when a model is broken', async () => {
    writeFileSync(join(folder, 'shop/models/broken.sql'), 'select nothing from nowhere');
    const { result } = await run(planOf('dbt-broken', [step('run', 'DBT_RUN', { project: 'shop', select: 'broken' })]));
    rmSync(join(folder, 'shop/models/broken.sql'));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'DBT_MODEL_FAILED', nodeId: 'run' } });
  });

  /** The steps of a plan on the PostgreSQL of the tests, reached at the given port. */
  function onPostgres(steps: readonly JsonObject[], port?: number): JsonObject[] {
    const { username, pathname, port: own } = new URL(warehouse.connectionString);
    const env = { DBT_SHOP_USER: username, DBT_SHOP_NAME: pathname.slice(1), DBT_SHOP_PORT: String(port ?? own) };
    const secretRefs = [{ provider: 'test', key: 'shop', as: 'env.DBT_SHOP_PASSWORD' }];
    return steps.map((one) => ({
      ...one,
      inputs: { ...(one.inputs as JsonObject), target: 'postgres', env },
      secretRefs,
    }));
  }

  it('the dbt example compiles, runs and tests on PostgreSQL, and reports the rows', async () => {
    const definition = JSON.parse(await readFile(join(EXAMPLES, 'dbt-orders.json'), 'utf8')) as { steps: JsonObject[] };
    const { result } = await run({ ...planOf('dbt-postgres', onPostgres(definition.steps)) });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { metadata: { counts: { passed: 3 } } } });
    const [attempt] = (await pawl.store.executionAttempts({ executionId: result.executionId, nodeIds: ['run'] })).map(
      ({ outputs }) => JSON.parse(outputs!) as JsonObject,
    );
    // Three orders and two customers.
    expect(attempt).toMatchObject({ metrics: { rowsWritten: 5, durationMs: expect.any(Number) } });
    const rows = await withClient(warehouse.connectionString, (client) =>
      client.query('select * from customers order by 1'),
    );
    expect(rows.rows).toMatchObject([{ customer: 'ada' }, { customer: 'bob' }]);
  });

  it('a dbt step shows the output of dbt as it runs, and is retried after a lost connection', async () => {
    const proxy = await startTcpProxy(Number(new URL(warehouse.connectionString).port));
    writeFileSync(join(folder, 'shop/models/endless.sql'), 'select pg_sleep(600) is null as slept');
    const steps = onPostgres([step('run', 'DBT_RUN', { project: 'shop', select: 'endless' })], proxy.port);
    const { workflowId } = await pawl.publish(planOf('dbt-cut', steps));
    const { executionId } = await pawl.start(workflowId);
    const view = await pawl.queries.get('default', executionId);
    const told: string[] = [];
    for await (const events of pawl.queries.follow(view, -1, AbortSignal.timeout(240_000))) {
      told.push(...events.map(({ type, data }) => `${type} ${String(data.message ?? '')}`));
      // dbt logs that the model has started, and logs nothing more.
      if (told.some((line) => /^Log .*START sql table model/.test(line))) proxy.target(null);
    }
    await proxy.close();
    rmSync(join(folder, 'shop/models/endless.sql'));
    expect(await pawl.result(executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'DBT_CONNECTION_LOST', nodeId: 'run' },
    });
    // Each line appears once, though the result contains all lines again.
    expect(told.filter((line) => line.includes('START sql table model'))).toHaveLength(1);
  });

  it('a dbt step is retried when the database is down, and its password is stored nowhere', async () => {
    const steps = onPostgres([step('run', 'DBT_RUN', { project: 'shop' })], 1);
    const { executionId, result } = await run(planOf('dbt-away', steps));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'DBT_CONNECTION_LOST', nodeId: 'run' } });
    const rows = await pawl.store.artifactList({ tenantId: 'default', executionId, afterId: null, limit: 50 });
    expect(rows.map(({ kind }) => kind)).toContain('log-bundle');
    const { password } = new URL(warehouse.connectionString);
    expect(textsBelow(join(folder, 'artifacts')).filter((text) => text.includes(password))).toEqual([]);
    expect(await tablesWith(database.connectionString, password)).toEqual([]);
  });

  it('cancelling a run ends dbt and every process that it started', async () => {
    const slow = join(folder, 'shop/models/slow.sql');
    writeFileSync(slow, 'select count(*) as n from range(1000000000000) a, range(1000000) b');
    const definition = planOf('dbt-slow', [step('run', 'DBT_RUN', { project: 'shop', select: 'slow' })]);
    const { workflowId } = await pawl.publish(definition);
    const { executionId } = await pawl.start(workflowId);
    await vi.waitFor(() => expect(dbtProcesses()).not.toEqual([]), { timeout: 60_000, interval: 100 });
    await pawl.executions.cancel('default', executionId);
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Cancelled' });
    await vi.waitFor(() => expect(dbtProcesses()).toEqual([]), { timeout: 60_000, interval: 100 });
    rmSync(slow);
  });

  it('a dbt project outside the project folder is refused', async () => {
    const { result } = await run(planOf('dbt-outside', [step('run', 'DBT_RUN', { project: '../../etc' })]));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'DBT_PROJECT_NOT_FOUND' } });
  });
});
