// What a step of an execution plan gets and leaves: secrets in the attempt only, outputs that are checked against StepOutput, and
// results that are too large to keep inline.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { createPawl, defineAction, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const returns = defineAction({
  type: 'test.returns',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ value: z.json() }),
  outputs: z.unknown(),
  run: ({ value }) => ({ outputs: value }),
});

/** `size` texts of a kilobyte each. */
const large = defineAction({
  type: 'test.large',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ size: z.int() }),
  outputs: z.unknown(),
  run: ({ size }) => ({ outputs: { count: size, rows: Array.from({ length: size }, () => 'x'.repeat(1024)) } }),
});

const length = defineAction({
  type: 'test.length',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ rows: z.array(z.string()), count: z.int() }),
  outputs: z.unknown(),
  run: ({ rows, count }) => ({ outputs: { rows: rows.length, count } }),
});

/** Keeps a JSON value as an artifact. */
const list = defineAction({
  type: 'test.list',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ value: z.json() }),
  outputs: z.unknown(),
  async run({ value }, { artifacts }) {
    const artifact = { kind: 'custom', name: 'list.json', contentType: 'application/json' } as const;
    const ref = await artifacts.put(artifact, JSON.stringify(value));
    return { outputs: { status: 'SUCCESS', artifactRefs: [ref], metadata: {} } };
  },
});

const called: string[] = [];
const note = defineAction({
  type: 'test.note',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ line: z.string(), outcome: z.looseObject({ status: z.string() }).nullable() }),
  outputs: z.unknown(),
  run: ({ line, outcome }) => {
    called.push(`${line} ${outcome?.status ?? null}`);
    return { outputs: {} };
  },
});

let database: TestDatabase;
let pawl: Pawl;
const folder = mkdtempSync(join(tmpdir(), 'pawl-step-'));
beforeAll(async () => {
  database = await testDatabase();
  pawl = await createPawl({
    database: { url: database.connectionString },
    artifact: { folder },
    definition: { retryMaxAttempts: 1 },
    actions: [returns, large, length, list, note],
    secrets: [{ name: 'test', get: ({ key }) => (key === 'known' ? 's3cret-value' : undefined) }],
  });
});
afterAll(async () => {
  await pawl?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

let plans = 0;
const planOf = (steps: readonly JsonObject[], schemaVersion = 'v1'): JsonObject => ({
  metadata: {
    planId: `step-${++plans}`,
    planVersion: '1',
    createdAt: '2026-02-22T10:00:00Z',
    createdBy: 'tests',
    schemaVersion,
  },
  scope: { tenantId: 'default', projectId: 'p', environmentId: 'test', repoSha: 'x' },
  steps: steps.map((step) => ({ timeout: '10s', ...step })),
});

async function run(definition: Json) {
  const { workflowId } = await pawl.publish(definition);
  const { executionId } = await pawl.start(workflowId);
  const result = await pawl.result(executionId);
  const attempts = await pawl.store.executionAttempts({ executionId, parameters: true });
  return { executionId, result, attempts };
}

const returning = (value: Json) => run(planOf([{ stepId: 'a', type: 'test.returns', inputs: { value } }]));

describe('secretRefs of a step', () => {
  it('secretRefs are resolved in the attempt, at their path, and redacted from the outputs', async () => {
    const secretRefs = [{ provider: 'test', key: 'known', as: 'value.env.PASSWORD' }];
    const { result, attempts } = await run(
      planOf([{ stepId: 'a', type: 'test.returns', inputs: { value: { kept: 1, env: { OTHER: 'x' } } }, secretRefs }]),
    );
    expect(result).toMatchObject({
      status: 'Succeeded',
      outputs: { kept: 1, env: { OTHER: 'x', PASSWORD: '[redacted]' } },
    });
    expect(JSON.stringify(attempts)).not.toContain('s3cret-value');
  });

  it('secretRefs that cannot be resolved fail the step before its action runs', async () => {
    for (const [ref, code] of [
      [{ provider: 'test', key: 'unknown' }, 'SECRET_NOT_FOUND'],
      [{ provider: 'nobody', key: 'known' }, 'SECRET_NOT_FOUND'],
    ] as const) {
      const { result } = await run(planOf([{ stepId: 'a', type: 'core.echo', inputs: {}, secretRefs: [ref] }]));
      expect(result).toMatchObject({ status: 'Failed', error: { code, nodeId: 'a' } });
    }
  });
});

describe('outputs in the form of a StepOutput', () => {
  const good = { status: 'SUCCESS', artifactRefs: [], metadata: { rows: 3 } };

  it('a valid StepOutput is kept as it is, and other outputs are left alone', async () => {
    expect((await returning(good)).result).toMatchObject({ status: 'Succeeded', outputs: good });
    expect((await returning({ status: 'fine' })).result).toMatchObject({ outputs: { status: 'fine' } });
  });

  it('an invalid StepOutput fails the step: an unknown artifact kind, an unknown field', async () => {
    const wrong: [Json, string][] = [
      [{ ...good, artifactRefs: [{ uri: 's3://b/k', kind: 'picture' }] }, 'outputs.artifactRefs.0.kind'],
      [{ ...good, extra: 1 }, 'extra'],
    ];
    for (const [outputs, path] of wrong) {
      const { result } = await returning(outputs);
      expect(result).toMatchObject({ status: 'Failed', error: { code: 'STEP_OUTPUT_INVALID' } });
      expect((result as { error: { message: string } }).error.message).toContain(path);
    }
  });

  it('a StepOutput with the status FAILED fails the step with its own error', async () => {
    const error = { category: 'REMOTE', code: 'NO_ROWS', message: 'the table is empty', retryable: false };
    const { result, attempts } = await returning({ ...good, status: 'FAILED', error });
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'NO_ROWS', message: 'the table is empty' } });
    expect(attempts[0]!.outputs).toContain('"status":"FAILED"');
  });

  it('a step that fails without outputs gets a StepOutput', async () => {
    const { attempts } = await run(planOf([{ stepId: 'a', type: 'test.length', inputs: {} }]));
    expect(JSON.parse(attempts[0]!.outputs!)).toMatchObject({
      status: 'FAILED',
      artifactRefs: [],
      metadata: {},
      error: { category: 'VALIDATION', code: 'PARAMETERS_INVALID', retryable: false },
    });
  });
});

describe('outputs that are too large', () => {
  it('large outputs become an artifact that later steps can read, and small fields stay inline', async () => {
    const { executionId, result } = await run(
      planOf([
        { stepId: 'big', type: 'test.large', inputs: { size: 2_000 } },
        {
          stepId: 'reader',
          type: 'test.length',
          inputs: { rows: '{{ steps.big.output.rows }}', count: '{{ steps.big.output.count }}' },
          dependsOn: ['big'],
        },
      ]),
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { rows: 2_000, count: 2_000 } });
    const rows = await pawl.store.artifactList({ tenantId: 'default', executionId, afterId: null, limit: 5 });
    expect(rows).toMatchObject([{ nodeId: 'big', kind: 'custom', contentType: 'application/json' }]);
  });

  it('outputs over 64 MB fail the step', async () => {
    const { result } = await run(planOf([{ stepId: 'a', type: 'test.large', inputs: { size: 70_000 } }]));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'OUTPUT_TOO_LARGE' } });
  });

  it('outputs in an artifact that is gone cannot be read back', async () => {
    const gone = { $artifact: { uri: 'pawl:artifacts/00000000-0000-7000-8000-000000000000' } };
    const { result } = await returning(gone);
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'ARTIFACT_NOT_FOUND' } });
  });
});

describe('a plan of schema version 2', () => {
  const outcomeOf = (result: unknown) => result as { status: string; outputs: JsonObject };

  it('a v2 plan wraps the outputs of ordinary actions as metadata', async () => {
    const { result } = await run(
      planOf(
        [
          { stepId: 'a', type: 'core.echo', inputs: { rows: 3 } },
          {
            stepId: 'b',
            type: 'core.echo',
            inputs: { got: '{{ steps.a.output.metadata.rows }}' },
            dependsOn: [{ stepId: 'a', when: 'steps.a.output.metadata.rows > 2' }],
          },
          {
            stepId: 'c',
            type: 'core.fail',
            inputs: {},
            dependsOn: [{ stepId: 'a', when: 'steps.a.output.metadata.rows > 3' }],
          },
        ],
        'v2',
      ),
    );
    expect(outcomeOf(result)).toMatchObject({
      status: 'Succeeded',
      outputs: { status: 'SUCCESS', artifactRefs: [], metadata: { got: 3 } },
    });
  });

  it('hooks run before and after each attempt, and only a failed preStep fails the attempt', async () => {
    called.length = 0;
    const noting = (phase: string) => ({
      type: 'test.note',
      inputs: { line: `${phase} {{ step.id }}`, outcome: '{{ outcome }}' },
    });
    const hooks = { preStep: noting('before'), postStep: noting('after') };
    const steps = [{ stepId: 'a', type: 'core.echo', inputs: { x: 1 } }];
    const { result } = await run({ ...planOf(steps, 'v2'), hooks });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { metadata: { x: 1 } } });
    const failing = { ...steps[0]!, hooks: { ...hooks, postStep: { type: 'core.fail' } } };
    expect((await run(planOf([failing], 'v2'))).result).toMatchObject({ status: 'Succeeded' });
    const refused = { ...steps[0]!, hooks: { preStep: { type: 'core.fail' }, postStep: noting('after') } };
    expect((await run(planOf([refused], 'v2'))).result).toMatchObject({
      status: 'Failed',
      error: { message: expect.stringContaining('preStep failed') },
    });
    expect(called).toEqual(['before a null', 'after a SUCCESS', 'before a null', 'after a FAILED']);
  });

  it('a v2 plan runs a step for each item of a list in an artifact', async () => {
    const foreach = { from: 'list.output.artifactRefs[0]', parallel: 2 };
    const each = { stepId: 'each', type: 'core.echo', inputs: { got: '{{ item.n }}' }, dependsOn: ['list'], foreach };
    const listing = (value: Json) => ({ stepId: 'list', type: 'test.list', inputs: { value } });
    const { result } = await run(planOf([listing([{ n: 1 }, { n: 2 }]), each], 'v2'));
    const results = outcomeOf(result).outputs.results as { metadata: Json }[];
    expect(results.map(({ metadata }) => metadata)).toEqual([{ got: 1 }, { got: 2 }]);
    expect((await run(planOf([listing({ no: 'list' }), each], 'v2'))).result).toMatchObject({
      status: 'Failed',
      error: { code: 'NOT_A_LIST' },
    });
  });
});
