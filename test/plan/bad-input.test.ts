// Plans that meet bad input: each has a clear outcome, and nothing is lost. The cases: dbt is not installed, an artifact was
// changed, is gone or has expired, a list is not a list, and a list differs at a retry.

import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { createPawl, defineAction, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-bad-input-'));
const common = { version: '1.0.0', connector: 'test', category: 'Test', outputs: z.unknown() } as const;

/** Keeps a list as an artifact, and then spoils the artifact as the step says. */
const keeps = defineAction({
  ...common,
  type: 'test.keeps',
  params: z.object({ spoil: z.enum(['bytes', 'reference', 'remove', 'expire', 'nothing']), value: z.json() }),
  async run({ spoil, value }, { artifacts, executionId }) {
    const before = filesBelow(folder);
    const artifact = { kind: 'custom', name: 'list.json', contentType: 'application/json' } as const;
    const ref = await artifacts.put(artifact, JSON.stringify(value));
    const [file = ''] = filesBelow(folder).filter((path) => !before.includes(path));
    if (spoil === 'bytes') writeFileSync(file, JSON.stringify([9]));
    if (spoil === 'remove') rmSync(file);
    if (spoil === 'expire')
      await withClient(database.connectionString, (client) =>
        client.query('update artifacts set expires_at = now() where execution_id = $1', [executionId]),
      );
    const told = spoil === 'reference' ? { ...ref, sha256: 'a'.repeat(64) } : ref;
    return { outputs: { status: 'SUCCESS', artifactRefs: [told], metadata: {} } };
  },
});

let lists = 0;
const ran: string[] = [];
/** Returns another list in every call. */
const listing = defineAction({
  ...common,
  type: 'test.lists',
  params: z.object({}),
  run: () => ({ outputs: { items: Array.from({ length: ++lists }, (_, index) => `${lists}-${index}`) } }),
});

/** Fails the first time it sees the item. */
const failsOnce = defineAction({
  ...common,
  type: 'test.fails-once',
  params: z.object({ item: z.string() }),
  run({ item }) {
    ran.push(item);
    if (ran.filter((one) => one === item).length === 1) throw new Error(`${item} is not ready`);
    return { outputs: { item } };
  },
});

let database: TestDatabase;
let pawl: Pawl;
beforeAll(async () => {
  cpSync(join(import.meta.dirname, '../../examples/plan/shop'), join(folder, 'projects/shop'), { recursive: true });
  database = await testDatabase();
  pawl = await createPawl({
    database: { url: database.connectionString },
    artifact: { folder: join(folder, 'artifacts') },
    dbt: { folder: [join(folder, 'projects')], command: '/nowhere/dbt' },
    definition: { retryMaxAttempts: 1 },
    actions: [keeps, listing, failsOnce],
  });
});
afterAll(async () => {
  await pawl?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const filesBelow = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

let plans = 0;
async function run(steps: readonly JsonObject[], schemaVersion = 'v2') {
  const planId = `bad-${++plans}`;
  const metadata = { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion };
  const scope = { tenantId: 'default', projectId: 'p', environmentId: 'test', repoSha: 'x' };
  await pawl.publish({ metadata, scope, steps: steps.map((step) => ({ timeout: '10s', ...step })) });
  const { executionId } = await pawl.start(planId);
  return { executionId, result: await pawl.result(executionId) };
}

describe('dbt that is not installed', () => {
  it('a dbt step without dbt fails for good, and the message says what to do', async () => {
    const { result } = await run([{ stepId: 'run', type: 'DBT_RUN', inputs: { project: 'shop' } }]);
    expect(result).toMatchObject({
      status: 'Failed',
      error: { code: 'DBT_NOT_INSTALLED', message: expect.stringContaining('dbt.command'), nodeId: 'run' },
    });
  });
});

describe('a loop over an artifact', () => {
  const over = (spoil: string, value: Json = [1, 2]) =>
    run([
      { stepId: 'list', type: 'test.keeps', inputs: { spoil, value } },
      {
        ...{ stepId: 'each', type: 'core.echo', inputs: { got: '{{ item }}' }, dependsOn: ['list'] },
        foreach: { from: 'list.output.artifactRefs[0]' },
      },
    ]);

  it('a loop over an intact artifact succeeds', async () => {
    expect((await over('nothing')).result).toMatchObject({ status: 'Succeeded' });
  });

  it.each([
    ['bytes', 'ARTIFACT_DIGEST_MISMATCH'],
    ['reference', 'ARTIFACT_DIGEST_MISMATCH'],
    ['remove', 'ARTIFACT_GONE'],
    ['expire', 'ARTIFACT_NOT_FOUND'],
  ])('a loop over a damaged artifact (%s) fails, and no item runs', async (spoil, code) => {
    const { result } = await over(spoil);
    expect(result).toMatchObject({ status: 'Failed', error: { code, nodeId: 'each.items' } });
  });

  it.each([[{ no: 'list' }], ['text'], [null]])(
    'a loop over an artifact that is not a list fails with NOT_A_LIST: %j',
    async (value) => {
      expect((await over('nothing', value)).result).toMatchObject({ status: 'Failed', error: { code: 'NOT_A_LIST' } });
    },
  );
});

describe('a loop over a list that changes before a retry', () => {
  it('a loop that is retried runs the items recorded the first time', async () => {
    const foreach = { from: 'list.output.items', parallel: 1 };
    const each = {
      stepId: 'each',
      type: 'test.fails-once',
      inputs: { item: '{{ item }}' },
      dependsOn: ['list'],
      foreach,
    };
    lists = 1;
    const { executionId, result } = await run([{ stepId: 'list', type: 'test.lists', inputs: {} }, each], 'v1');
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'ITEMS_FAILED' } });
    lists = 5;
    for (let tries = 0; tries < 2; tries++) {
      await pawl.executions.retry('default', executionId);
      await expect.poll(async () => (await pawl.executions.get('default', executionId)).status).not.toBe('Running');
      await pawl.result(executionId);
    }
    expect((await pawl.result(executionId)).status).toBe('Succeeded');
    expect(lists).toBe(5);
    expect([...new Set(ran)]).toEqual(['2-0', '2-1']);
  });
});
