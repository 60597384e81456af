import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../src/core/json/json.ts';
import { defineAction, type PawlError, RetryableError, TerminalError } from '../../src/main.ts';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { echo, graph, held, to, tries } from './workflow-definition.ts';

const bad = defineAction({
  type: 'test.bad',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ how: z.string() }),
  outputs: z.unknown(),
  run: ({ how }) => misbehave[how]!(),
});

const circular: { self?: unknown } = {};
circular.self = circular;

const misbehave: Record<string, () => never | { outputs: unknown }> = {
  circular: () => ({ outputs: circular }),
  function: () => ({ outputs: { callback: () => 1 } }),
  promise: () => ({ outputs: { forgotten: Promise.resolve(1) } }),
  bigint: () => ({ outputs: { n: 1n } }),
  huge: () => ({ outputs: { text: 'x'.repeat(20_000) } }),
  nothing: () => ({ outputs: undefined }),
  'not a result': () => 'done' as never,
  symbol: () => ({ outputs: { s: Symbol('x') } }),
  map: () => ({ outputs: { m: new Map([[1, 2]]) } }),
  'throwing getter': () => ({
    outputs: {
      get x() {
        throw new Error('no access');
      },
    },
  }),
  'throwing conversion': () => ({
    outputs: {
      toJSON() {
        throw new Error('not today');
      },
    },
  }),
  'throwing proxy': () => ({
    outputs: new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('go away');
        },
      },
    ),
  }),
  'result that is a trap': () =>
    new Proxy({ outputs: {} } as { outputs: unknown }, {
      get(_, key) {
        if (key === 'then') return undefined;
        throw new Error('trapped');
      },
    }),
  'throws nothing': () => {
    throw undefined;
  },
  'throws a string': () => {
    throw 'plain words';
  },
  'hostile error': () => {
    throw Object.create(null, {
      message: {
        get() {
          throw new Error('inner');
        },
      },
    });
  },
  nul: () => ({ outputs: { 'a\u0000key': 'a\u0000value' } }),
  surrogate: () => ({ outputs: { half: '\ud83d', other: '\udc00x' } }),
  'nul in error': () => {
    throw new TerminalError('BAD\u0000CODE', 'before\u0000after');
  },
  'surrogate in error': () => {
    throw new RetryableError('HALF', `half \ud83d`);
  },
  'huge error': () => {
    throw new TerminalError('LONG', 'e'.repeat(1_000_000));
  },
  proto: () => ({ outputs: JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') }),
};

const engine = engineUnderTest({ actions: [bad], action: { outputLimitBytes: 10_000 } });

afterEach(() => expect(({} as Record<string, unknown>).polluted).toBeUndefined());

/** A bad node, and a good node beside it that does not depend on it. */
const neighbours = (id: string, how: string) =>
  graph(id, [
    echo('fork', {}, to('bad', 'good')),
    { id: 'bad', actionType: 'test.bad', parameters: { how }, onFailure: 'report', ...tries(1) },
    echo('report', { code: '{{ context.data.bad.error.code }}', message: '{{ context.data.bad.error.message }}' }),
    echo('good', { fine: true }),
  ]);

describe('a result that cannot be stored', () => {
  it.each([
    ['circular', 'OUTPUT_NOT_JSON', 'outputs.self refers back to an object that contains it'],
    ['function', 'OUTPUT_NOT_JSON', 'outputs.callback is a function'],
    ['promise', 'OUTPUT_NOT_JSON', 'is an await missing'],
    ['bigint', 'OUTPUT_NOT_JSON', 'outputs.n'],
    ['symbol', 'OUTPUT_NOT_JSON', 'outputs.s is a symbol'],
    ['map', 'OUTPUT_NOT_JSON', 'outputs.m is a Map'],
    ['throwing getter', 'OUTPUT_NOT_JSON', 'no access'],
    ['throwing conversion', 'OUTPUT_NOT_JSON', 'not today'],
    ['throwing proxy', 'OUTPUT_NOT_JSON', 'go away'],
    ['result that is a trap', 'ACTION_FAILED', 'trapped'],
    ['huge', 'OUTPUT_TOO_LARGE', 'the limit is 10000 bytes'],
    ['not a result', 'ACTION_RESULT_INVALID', 'must return { outputs, resourceLinks? }'],
    ['throws nothing', 'ACTION_FAILED', 'undefined'],
    ['throws a string', 'ACTION_FAILED', 'plain words'],
    ['hostile error', 'ACTION_FAILED', ''],
    ['nul in error', 'BAD\ufffdCODE', 'before\ufffdafter'],
    ['surrogate in error', 'HALF', 'half \ufffd'],
    ['huge error', 'LONG', 'more characters)'],
  ])('result "%s" fails its node with a clear code, and the node beside it succeeds', async (how, code, message) => {
    const result = await engine.run(neighbours(`bad-${how.replaceAll(' ', '-')}`, how));
    const outputs = result.outputs as { code: string; message: string; fine: boolean };
    expect(result.status).toBe('Succeeded');
    expect(outputs).toMatchObject({ code, fine: true });
    expect(outputs.message).toContain(message);
    expect(outputs.message.length).toBeLessThan(5_000);
  });
});

describe('an unusual but legal result', () => {
  it.each<[string, Json]>([
    ['nul', { 'a\u0000key': 'a\u0000value' }],
    ['surrogate', { half: '\ud83d', other: '\udc00x' }],
    ['nothing', {}],
  ])('result "%s" is stored unchanged', async (how, expected) => {
    const definition = graph(`strange-${how}`, [
      { id: 'odd', actionType: 'test.bad', parameters: { how }, ...to('copy') },
      echo('copy', { same: '{{ context.data.odd }}' }),
    ]);
    const result = await engine.run(definition);
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { same: expected } });
    expect((await engine.attempts(result.executionId))[0]!.outputs).toEqual(expected);
    // The views for people must be able to read these results too.
    await engine.sql('select * from action_executions_view where workflow_execution_id = $1', [result.executionId]);
    await engine.sql('select * from executions_view where id = $1', [result.executionId]);
    await engine.sql('select * from execution_events_view where workflow_execution_id = $1', [result.executionId]);
  });

  it('prototype keys in a result stay plain data', async () => {
    const result = await engine.run(
      graph('proto', [{ id: 'odd', actionType: 'test.bad', parameters: { how: 'proto' } }]),
    );
    expect(result.status).toBe('Succeeded');
    expect(
      (await engine.pawl.store.executionAttempts({ executionId: result.executionId, parameters: true }))[0]!.outputs,
    ).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}');
  });
});

describe('unusual input of an execution', () => {
  it.each<[string, Json]>([
    ['U+0000 and half a surrogate pair', { text: 'a\u0000b', half: '\ud83d' }],
    ['a list', [1, 2, 3]],
    ['null', null],
    ['a very deep value', JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`) as Json],
    ['prototype keys', JSON.parse('{"__proto__":{"polluted":true}}') as Json],
  ])('%s as input reaches the node unchanged', async (_name, trigger) => {
    const result = await engine.run(graph('carries', [echo('copy', { same: '{{ trigger }}' })]), { trigger });
    expect(result.status).toBe('Succeeded');
    expect(JSON.stringify(result.outputs)).toBe(JSON.stringify({ same: trigger }));
  });
});

describe('a workflow that does not match its runner', () => {
  it('a node whose parameters cannot be rendered fails, and the error names the missing value', async () => {
    const result = await engine.run(
      graph('unrenderable', [
        echo('show', { name: '{{ trigger.customer.name }}' }, { onFailure: 'report' }),
        echo('report', { why: '{{ context.data.show.error.message }}', code: '{{ context.data.show.error.code }}' }),
      ]),
      { trigger: {} },
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { code: 'TEMPLATE_ERROR' } });
    expect((result.outputs as { why: string }).why).toContain('trigger.customer');
    expect(await engine.nodes(result.executionId)).toEqual({ show: 'Failed', report: 'Succeeded' });
  });

  it('an execution whose outputs cannot be rendered fails', async () => {
    const result = await engine.run(
      graph('no-outputs', [echo('a')], { outputs: { x: '{{ context.data.a.missing.deep }}' } }),
    );
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'TEMPLATE_ERROR' } });
  });

  it('a condition that throws counts as false, and a warning is recorded', async () => {
    const result = await engine.run(
      graph('bad-condition', [
        echo('a', {}, { edges: [{ targetNode: 'yes', condition: 'trigger.missing.deep > 1' }, { targetNode: 'no' }] }),
        echo('yes'),
        echo('no', { took: 'the other way' }),
      ]),
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { took: 'the other way' } });
    expect((await engine.facts(result.executionId)).filter(({ type }) => type === 'Warning')).toHaveLength(1);
  });

  it('a node whose parameters the action refuses fails without a retry', async () => {
    const result = await engine.run(
      graph('wrong-parameters', [{ id: 'bad', actionType: 'test.bad', parameters: { how: 7 } }]),
    );
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'PARAMETERS_INVALID', nodeId: 'bad' } });
    expect(result.error!.message).toContain('parameters.how');
    expect(await engine.attempts(result.executionId)).toHaveLength(1);
  });

  it('a node whose action is not registered any more fails', async () => {
    await engine.pawl.publish(graph('needs-more', [held('step')]));
    await engine.sql(
      `update workflow_definitions set definition = replace(definition::text, 'test.work', 'test.gone')::json where workflow_id = 'needs-more'`,
    );
    const { executionId } = await engine.pawl.start('needs-more');
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Failed',
      error: {
        code: 'ACTION_NOT_FOUND',
        message: expect.stringMatching(/^No action "test.gone" is registered in this runner.*--actions/),
        nodeId: 'step',
      },
    });
  });

  it('publishing an invalid workflow is refused with every problem', async () => {
    const broken = graph('broken', [
      { id: 'a', actionType: 'test.nobody', ...to('nowhere') },
      echo('b', { x: '{{ 1 + }}' }),
    ]);
    const refusal = await engine.pawl.publish(broken).then(
      () => null,
      (error: unknown) => error as PawlError,
    );
    expect(refusal).toMatchObject({ code: 'WFENG005' });
    expect(refusal).toHaveProperty('details.length', 4);
    await expect(engine.pawl.publish(graph('nul-id', [held('a\u0000b')]))).rejects.toMatchObject({ code: 'WFENG005' });
  });
});

describe('an unknown execution id', () => {
  it('reading or cancelling an unknown or malformed execution id answers EXECUTION_NOT_FOUND', async () => {
    const { executions } = engine.pawl;
    for (const id of ['', 'nonsense', '0190d2c0-0000-7000-8000-000000000000', "'; drop table workflows; --"]) {
      await expect(executions.get(TENANT, id)).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
      await expect(executions.cancel(TENANT, id)).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
    }
  });
});
