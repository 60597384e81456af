import { describe, expect, it } from 'vitest';
import { evaluateCondition } from '../expression/evaluate.ts';
import type { JsonObject } from '../json/json.ts';
import { compileDefinition } from './compile.ts';
import { codesOf, compiled, nodeOf, plan, problemsOf, step } from './definition.testing.ts';

describe('compiling an execution plan', () => {
  it('an execution plan drains after a failure, has no deadline, and knows its scope', () => {
    expect(compiled(plan([step('a')]))).toMatchObject({
      format: 'plan',
      id: 'test',
      start: [0],
      onUnhandledFailure: 'drain',
      timeoutMs: null,
      scope: { tenantId: 't', projectId: 'p', environmentId: 'e', repoSha: 's' },
    });
  });

  it('a plan keeps the version name of its planner, which does not change what it does', () => {
    const named = (planVersion: string) => {
      const definition = plan([step('a')]);
      return compiled({ ...definition, metadata: { ...(definition.metadata as JsonObject), planVersion } });
    };
    expect(named('7.1').namedVersion).toBe('7.1');
    expect(named('7.1').checksum).toBe(named('7.2').checksum);
  });

  it('a step waits for the success of the steps it depends on', () => {
    const compiledPlan = compiled(plan([step('c', { dependsOn: ['a', 'b'] }), step('a'), step('b')]));
    expect(compiledPlan.start).toEqual([1, 2]);
    expect(compiledPlan.edges).toEqual([
      { from: 1, to: 0, when: 'success', condition: null, implicit: false },
      { from: 2, to: 0, when: 'success', condition: null, implicit: false },
    ]);
    expect(compiledPlan.nodes[0]).toMatchObject({ join: 'all', incoming: [0, 1] });
  });

  it('a step gets its type, inputs and timeout, and three attempts', () => {
    expect(nodeOf(plan([step('a', { type: 'DBT_RUN', inputs: { model: 'x' }, timeout: '10m' })]), 'a')).toMatchObject({
      step: { kind: 'action', actionType: 'DBT_RUN' },
      parameters: { kind: 'literal', value: { model: 'x' } },
      policy: { timeoutMs: 600_000, retry: { maxAttempts: 3, maxDelayMs: null } },
      dispatch: null,
    });
    expect(nodeOf(plan([step('a', { timeout: 1_234 })]), 'a').policy.timeoutMs).toBe(1_234);
  });

  it('a step passes routing, labels, secrets and the plugin to the attempt', () => {
    const secretRefs = [{ provider: 'vault', key: 'k', version: '2' }];
    const fields = {
      dispatch: { taskQueue: 'q', runtime: 'python' },
      observabilityTags: { modelName: 'orders' },
      secretRefs,
      pluginId: 'masking',
      pluginVersion: '1.0.0',
      inputSchemaRef: 'https://example.com/in.json',
      pluginVersionPolicy: { strategy: 'canary', percent: 5 },
    };
    const { step: compiledStep, dispatch } = nodeOf(plan([step('a', fields)]), 'a');
    expect(dispatch).toEqual({ taskQueue: 'q', runtime: 'python', tags: { modelName: 'orders' } });
    expect(compiledStep).toEqual({
      kind: 'action',
      actionType: 'core.echo',
      secretRefs,
      plugin: { pluginId: 'masking', pluginVersion: '1.0.0', inputSchemaRef: 'https://example.com/in.json' },
    });
    expect(nodeOf(plan([step('a', { dispatch: { workerPool: 'w' } })]), 'a').dispatch).toEqual({ workerPool: 'w' });
  });

  it('core.delay becomes a sleep, which must end before the timeout of its step', () => {
    expect(nodeOf(plan([step('a', { type: 'core.delay', inputs: { durationMs: 5 } })]), 'a')).toMatchObject({
      step: { kind: 'sleep', durationMs: 5 },
      parameters: null,
      policy: { timeoutMs: 60_000 },
    });
  });
});

describe('an unknown step type', () => {
  const actions = new Set(['core.echo']);

  it('an unknown type is a warning when a worker of the named task queue may know it', () => {
    const routed = { type: 'SCORE', dispatch: { taskQueue: 'gpu' } };
    expect(compileDefinition(plan([step('a'), step('b', routed)]), { actions })).toMatchObject({
      ok: true,
      warnings: [{ code: 'UNKNOWN_ACTION', path: '/steps/1/type', message: expect.stringContaining('`gpu`') }],
    });
  });

  it('labels cause no warning about an unknown type', () => {
    const labelled = step('a', { observabilityTags: { modelName: 'orders' } });
    expect(compileDefinition(plan([labelled]), { actions })).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('named retry policies', () => {
  const definition = plan([step('a', { retryPolicyRef: 'gentle' })]);

  it('a named retry policy completes the default policy', () => {
    const retryPolicies = { gentle: { maxAttempts: 9, maxDelayMs: 60_000 } };
    expect(compiled(definition, { retryPolicies }).nodes[0]!.policy.retry).toEqual({
      maxAttempts: 9,
      baseDelayMs: 2_000,
      backoffFactor: 2,
      maxDelayMs: 60_000,
      jitter: true,
    });
  });

  it('a named policy means the default when no policies are known, and this causes a warning', () => {
    expect(compiled(definition).nodes[0]!.policy.retry.maxAttempts).toBe(3);
    expect(compileDefinition(definition)).toMatchObject({
      ok: true,
      warnings: [{ code: 'UNKNOWN_RETRY_POLICY', path: '/steps/0/retryPolicyRef', severity: 'warning' }],
    });
  });

  it('a named policy must exist when policies are known', () => {
    expect(problemsOf(definition, { retryPolicies: { gentl: {} } })).toEqual([
      {
        code: 'UNKNOWN_RETRY_POLICY',
        path: '/steps/0/retryPolicyRef',
        message: 'there is no retry policy `gentle` in the configuration',
        suggestion: 'did you mean `gentl`?',
      },
    ]);
  });
});

describe('the `when` of a step', () => {
  const gated = (when: object, fields: object = {}) =>
    plan([step('compile'), step('run', { dependsOn: ['compile'], when, ...fields })]);
  const holds = (when: object, output: object | null) => {
    const { condition } = nodeOf(gated(when), 'run');
    return evaluateCondition(condition!.expr, { inputs: {}, steps: output === null ? {} : { compile: { output } } });
  };

  it('when is the condition of its step', () => {
    expect(nodeOf(gated({ expression: 'steps.compile.output.changed' }), 'run').condition).toMatchObject({
      source: 'steps.compile.output.changed',
    });
  });

  it('when reads the value at its path as `on`', () => {
    const when = { expression: 'on === true', on: 'compile.output.metadata.changed' };
    expect(nodeOf(gated(when), 'run').condition!.source).toBe(
      'on === true, where on is compile.output.metadata.changed',
    );
    expect(holds(when, { metadata: { changed: true } })).toEqual({ value: true });
    expect(holds(when, { metadata: { changed: false } })).toEqual({ value: false });
  });

  it('the path of when may have indexes, and gives nothing when a part is missing', () => {
    const when = { expression: "(on ?? 'none') === 'none'", on: 'compile.output.artifactRefs[0].uri' };
    expect(holds(when, { artifactRefs: [{ uri: 'none' }] })).toEqual({ value: true });
    expect(holds(when, { artifactRefs: [{ uri: 's3://x' }] })).toEqual({ value: false });
    expect(holds(when, {})).toEqual({ value: true });
    expect(holds(when, null)).toEqual({ value: true });
  });

  it('`on` may be anywhere in the expression', () => {
    const when = { expression: "inputs.force || [on, 'b'].includes('b') && on.length > 1", on: 'compile.output.kind' };
    expect(holds(when, { kind: 'ab' })).toEqual({ value: true });
    expect(holds(when, { kind: 'a' })).toEqual({ value: false });
  });

  it('the data that the path of when reads is retained, and the path is checked', () => {
    const on = { expression: 'on', on: 'compile.output.x' };
    expect(nodeOf(gated(on), 'compile').retain).toBe(true);
    expect(nodeOf(gated({ expression: 'true' }), 'compile').retain).toBe(false);
    expect(codesOf(gated(on, { dependsOn: [] }))).toEqual(['NOT_UPSTREAM /steps/1/when/on']);
    expect(problemsOf(gated({ expression: 'on', on: 'complie.output' }))).toMatchObject([
      { code: 'UNKNOWN_NODE', path: '/steps/1/when/on', suggestion: 'did you mean `compile`?' },
    ]);
  });

  it.each(['', '.compile', 'compile..x', 'compile[x]', 'compile.x y', 'compile.'])('when refuses the path %j', (on) => {
    const code = on === '' ? 'OUT_OF_RANGE' : 'BAD_PATH';
    expect(codesOf(gated({ expression: 'true', on }))).toEqual([`${code} /steps/1/when/on`]);
  });

  it('when refuses a bad expression, and `on` without a path', () => {
    expect(codesOf(gated({ expression: 'on ===', on: 'compile.x' }))).toEqual([
      'BAD_CONDITION /steps/1/when/expression',
    ]);
    expect(codesOf(gated({ expression: 'on' }))).toEqual(['BAD_CONDITION /steps/1/when/expression']);
    expect(codesOf(gated({ on: 'compile.x' }))).toEqual(['REQUIRED /steps/1/when/expression']);
  });
});

describe('values of an execution plan', () => {
  it('an execution plan requires the fields of Appendix D', () => {
    expect(codesOf({ metadata: {}, steps: [{}] })).toEqual([
      'REQUIRED /metadata/planId',
      'REQUIRED /metadata/planVersion',
      'REQUIRED /metadata/createdAt',
      'REQUIRED /metadata/createdBy',
      'REQUIRED /metadata/schemaVersion',
      'REQUIRED /scope',
      'REQUIRED /steps/0/stepId',
      'REQUIRED /steps/0/type',
      'REQUIRED /steps/0/inputs',
      'REQUIRED /steps/0/timeout',
    ]);
    expect(codesOf(plan([]))).toEqual(['OUT_OF_RANGE /steps']);
  });

  it('the schema version of a plan is 1 or 2', () => {
    const metadata = { ...(plan([]).metadata as object), schemaVersion: 'v3', createdAt: 'yesterday' };
    expect(problemsOf(plan([step('a')], { metadata }))).toMatchObject([
      { code: 'BAD_FORMAT', message: '"yesterday" must be a time such as 2026-02-22T10:00:00Z' },
      { code: 'NOT_ALLOWED', path: '/metadata/schemaVersion', message: expect.stringContaining('"v3"') },
    ]);
  });

  it.each(['soon', '0s', ''])('a step refuses the timeout %j', (timeout) => {
    expect(codesOf(plan([step('a', { timeout })]))).toEqual(['BAD_DURATION /steps/0/timeout']);
  });

  it('a step refuses a timeout of another type', () => {
    expect(codesOf(plan([step('a', { timeout: null })]))).toEqual(['WRONG_TYPE /steps/0/timeout']);
  });

  it('a plugin must be pinned, and plugin fields need a plugin id', () => {
    expect(codesOf(plan([step('a', { pluginId: 'x' })]))).toEqual(['PLUGIN_UNPINNED /steps/0/pluginId']);
    expect(codesOf(plan([step('a', { pluginId: 'x', pluginDigest: 'sha256:1' })]))).toEqual([]);
    expect(codesOf(plan([step('a', { pluginVersion: '1' })]))).toEqual(['PLUGIN_ID_REQUIRED /steps/0/pluginVersion']);
    const policy = { strategy: 'latest' };
    expect(codesOf(plan([step('a', { pluginVersionPolicy: policy })]))).toEqual([
      'PLUGIN_ID_REQUIRED /steps/0/pluginVersionPolicy',
    ]);
  });

  it('a dependency on an unknown step is refused', () => {
    expect(codesOf(plan([step('a', { dependsOn: ['b', 3] })]))).toEqual([
      'WRONG_TYPE /steps/0/dependsOn/1',
      'UNKNOWN_NODE /steps/0/dependsOn/0',
    ]);
  });
});

describe('schema version 2', () => {
  const second = (steps: Parameters<typeof plan>[0], fields: JsonObject = {}) => {
    const { metadata } = plan(steps) as { metadata: JsonObject };
    return plan(steps, { metadata: { ...metadata, schemaVersion: 'v2' }, ...fields });
  };

  it('version 2 makes every output a StepOutput, and version 1 does not', () => {
    expect(compiled(second([step('a')])).contract).toBe('wrapped');
    expect(compiled(plan([step('a')])).contract).toBeUndefined();
  });

  it('version 2 allows dependencies with a condition', () => {
    const dependsOn = [{ stepId: 'a', when: 'steps.a.output.metadata.changed' }, 'b'];
    const { edges } = compiled(second([step('a'), step('b'), step('c', { dependsOn })]));
    expect(edges.map(({ from, to, condition }) => [from, to, condition?.source ?? null])).toEqual([
      [0, 2, 'steps.a.output.metadata.changed'],
      [1, 2, null],
    ]);
    expect(
      codesOf(second([step('a'), step('b', { dependsOn: [{ stepId: 'x' }, { stepId: 'a', when: '1 +' }] })])),
    ).toEqual(['UNKNOWN_NODE /steps/1/dependsOn/0/stepId', 'BAD_CONDITION /steps/1/dependsOn/1/when']);
    expect(codesOf(second([step('a'), step('b', { dependsOn: [{ stepId: 'a' }, 'a'] })]))).toEqual([]);
  });

  it('the hooks of a step replace those of the plan', () => {
    const hooks = { preStep: { type: 'core.echo' }, postStep: { type: 'core.echo', inputs: { id: '{{ step.id }}' } } };
    const { nodes } = compiled(second([step('a'), step('b', { hooks: { preStep: { type: 'own' } } })], { hooks }));
    expect(nodes.map(({ step: made }) => made)).toMatchObject([
      {
        hooks: {
          preStep: { actionType: 'core.echo', inputs: {} },
          postStep: { actionType: 'core.echo', inputs: { id: '{{ step.id }}' } },
        },
      },
      { hooks: { preStep: { actionType: 'own', inputs: {} } } },
    ]);
    const wrong = { preStep: { type: 'x', inputs: { list: ['{{ steps.a }}', '{{ step. }}'] } } };
    expect(codesOf(second([step('a', { hooks: wrong })]))).toEqual([
      'BAD_TEMPLATE /steps/0/hooks/preStep/inputs/list/0',
      'BAD_TEMPLATE /steps/0/hooks/preStep/inputs/list/1',
    ]);
  });

  it('hooks and conditional dependencies need version 2, and each place is reported once', () => {
    const conditional = step('b', { dependsOn: [{ stepId: 'a' }], hooks: {} });
    expect(codesOf(plan([step('a'), conditional], { hooks: {} }))).toEqual([
      'NEEDS_V2 /hooks',
      'NEEDS_V2 /steps/1/hooks',
      'NEEDS_V2 /steps/1/dependsOn/0',
    ]);
    expect(codesOf(second([step('a')], { schemaVersion: 'v1' }))).toEqual(['NOT_ALLOWED /schemaVersion']);
    expect(codesOf(second([step('a')], { schemaVersion: 'v2' }))).toEqual([]);
  });
});

describe('a loop over an artifact', () => {
  it('a loop over an artifact reads it in a node of its own, whose output is the list', () => {
    const foreach = { from: 'a.output.artifactRefs[0]', tolerate: 1 };
    const { nodes, edges } = compiled(plan([step('a'), step("it's", { dependsOn: ['a'], foreach })]));
    expect(nodes.map(({ id }) => id)).toEqual(['a', "it's.items", "it's"]);
    expect(nodes[1]!.step).toMatchObject({ kind: 'action', actionType: 'core.read-artifact' });
    expect(nodes[2]!.step).toMatchObject({ kind: 'forEach', tolerate: { count: 1 } });
    expect(edges.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    const { metadata } = plan([]) as { metadata: JsonObject };
    const second = plan([step('a'), step('b', { dependsOn: ['a'], foreach })], {
      metadata: { ...metadata, schemaVersion: 'v2' },
    });
    expect(JSON.stringify(nodeOf(second, 'b').step)).toContain('.output.metadata.value');
  });
});
