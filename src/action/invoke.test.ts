import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RetryableError, TerminalError } from '../core/error/error.ts';
import { defineAction } from './action.ts';
import { actionThat, attemptContext, expectFailure, expectSuccess, runAction } from './attempt.testing.ts';
import { invokeAction } from './invoke.ts';
import { createRegistry } from './registry.ts';

describe('an attempt that succeeds', () => {
  it('a success has its outputs as text and as a value, with their size', async () => {
    const result = expectSuccess(
      await runAction(
        actionThat(() => ({ outputs: { text: 'é', n: 1 } })),
        {},
      ),
    );
    expect(result).toEqual({
      ok: true,
      outputsText: '{"text":"é","n":1}',
      outputs: { text: 'é', n: 1 },
      bytes: 19,
      resourceLinks: [],
      logs: [],
    });
  });

  it('an action may be asynchronous within its timeout', async () => {
    const action = actionThat(async () => ({ outputs: { ok: true } }));
    expect(expectSuccess(await runAction(action, {}, { timeoutMs: 60_000 })).outputs).toEqual({ ok: true });
  });

  it('the outputs in memory equal the outputs read from the stored text', async () => {
    const outputs = { at: new Date(0), gone: undefined, nan: Number.NaN, list: [undefined] };
    const result = expectSuccess(
      await runAction(
        actionThat(() => ({ outputs })),
        {},
      ),
    );
    expect(result.outputs).toEqual({ at: '1970-01-01T00:00:00.000Z', nan: null, list: [null] });
    expect(JSON.parse(result.outputsText)).toEqual(result.outputs);
  });

  it.each([
    ['nothing', undefined],
    ['no outputs', { outputs: undefined }],
  ])('an action that returns %s has {} as outputs', async (_name, returned) => {
    expect(
      expectSuccess(
        await runAction(
          actionThat(() => returned),
          {},
        ),
      ),
    ).toMatchObject({ outputsText: '{}', outputs: {}, bytes: 2 });
  });

  it('a success returns its resource links, cleaned for text columns', async () => {
    const resourceLinks = [
      { system: 'jira', resourceType: 'issue', resourceId: 'A\u00001', url: 'https://jira.example/A1' },
    ];
    const result = expectSuccess(
      await runAction(
        actionThat(() => ({ outputs: {}, resourceLinks })),
        {},
      ),
    );
    expect(result.resourceLinks).toEqual([
      { system: 'jira', resourceType: 'issue', resourceId: 'A\ufffd1', url: 'https://jira.example/A1' },
    ]);
  });
});

describe('an attempt that cannot start', () => {
  it('an unknown action cannot start', async () => {
    const request = { registry: createRegistry([]), actionType: 'test.missing', parameters: {}, timeoutMs: null };
    expect(await invokeAction({ ...request, context: attemptContext() })).toMatchObject({
      ok: false,
      retryable: false,
      error: {
        code: 'ACTION_NOT_FOUND',
        message: expect.stringMatching(/^No action "test.missing" is registered in this runner.*--actions/),
      },
    });
  });

  it('parameters that do not match give every problem with its path, and are not retried', async () => {
    let ran = false;
    const action = defineAction({
      type: 'test.strict',
      version: '1.0.0',
      connector: 'test',
      category: 'Test',
      params: z.strictObject({ to: z.array(z.object({ email: z.string() })), count: z.number(), text: z.string() }),
      outputs: z.object({}),
      run() {
        ran = true;
        return { outputs: {} };
      },
    });
    const failure = expectFailure(await runAction(action, { to: [{ email: 1 }], count: 'many', txt: '' }));
    expect(failure).toMatchObject({ retryable: false, error: { code: 'PARAMETERS_INVALID' } });
    expect(failure.error.message).toBe(
      [
        'test.strict: parameters.to[0].email: must be a string, not a number',
        'parameters.count: must be a number, not a string',
        'parameters.text: is required',
        'parameters.txt: is not a parameter',
      ].join('; '),
    );
    expect(ran).toBe(false);
  });

  it('a schema that throws counts as a problem of the parameters', async () => {
    const action = { ...actionThat(() => ({ outputs: {} })), params: z.looseObject({}).refine(async () => true) };
    expect(expectFailure(await runAction(action, {}))).toMatchObject({
      retryable: false,
      error: { code: 'PARAMETERS_INVALID' },
    });
  });
});

describe('an attempt that throws', () => {
  it('a TerminalError is not retried, and keeps its outputs', async () => {
    const action = actionThat(() => {
      throw new TerminalError('CARD_DECLINED', 'The card was declined', { outputs: { reason: 'limit' } });
    });
    expect(await runAction(action, {})).toEqual({
      ok: false,
      retryable: false,
      error: { code: 'CARD_DECLINED', message: 'The card was declined' },
      outputs: { reason: 'limit' },
      outputsText: '{"reason":"limit"}',
      logs: [],
    });
  });

  it('a RetryableError is retried after the delay it asks for', async () => {
    const action = actionThat(async () => {
      throw new RetryableError('RATE_LIMITED', 'Slow down', { retryAfterMs: 1500.2 });
    });
    expect(await runAction(action, {})).toMatchObject({
      retryable: true,
      retryAfterMs: 1501,
      error: { code: 'RATE_LIMITED' },
    });
  });

  it.each([Number.NaN, -5, Number.POSITIVE_INFINITY])('a retry delay of %s is ignored', async (retryAfterMs) => {
    const action = actionThat(() => {
      throw new RetryableError('X', 'x', { retryAfterMs });
    });
    expect(await runAction(action, {})).not.toHaveProperty('retryAfterMs');
  });

  it.each<[string, unknown, string]>([
    ['an ordinary error', new Error('boom'), 'boom'],
    ['an error without a message', new TypeError(), 'TypeError'],
    [
      'an error with a cause',
      new Error('fetch failed', { cause: new Error('ECONNREFUSED') }),
      'fetch failed (caused by: ECONNREFUSED)',
    ],
    ['a string', 'just text', 'just text'],
    ['an object', { status: 500 }, 'Thrown: {"status":500}'],
    ['undefined', undefined, 'Thrown: undefined'],
    ['a symbol', Symbol('s'), 'Thrown: Symbol(s)'],
    [
      'an object that cannot be shown',
      {
        toJSON() {
          throw new Error('no');
        },
      },
      'The action threw something that cannot be described',
    ],
    ['U+0000 and half a surrogate pair', new Error('a\u0000b\ud83d'), 'a\ufffdb\ufffd'],
  ])('throwing %s is retried by policy', async (_name, thrown, message) => {
    const action = actionThat(() => {
      throw thrown;
    });
    const { stack, ...failure } = expectFailure(await runAction(action, {}));
    expect(failure).toEqual({ ok: false, retryable: true, error: { code: 'ACTION_FAILED', message }, logs: [] });
    if (!(thrown instanceof Error)) expect(stack).toBeUndefined();
  });

  it('the stack of an unexpected error is kept, without its message', async () => {
    const action = actionThat(() => {
      throw new Error('card 4111\n    at (the customer)');
    });
    const { stack } = expectFailure(await runAction(action, {}));
    expect(stack).toMatch(/^ {4}at .*invoke\.test\.ts:\d+:\d+\)?(\n {4}at .*)*$/);
    expect(stack).not.toContain('customer');
    expect(stack).not.toContain('invokeAction');
  });

  it('a deliberate error has no stack', async () => {
    const action = actionThat(() => {
      throw new RetryableError('BUSY', 'later');
    });
    expect(await runAction(action, {})).not.toHaveProperty('stack');
  });

  it('an error message of more than 4 KB is cut', async () => {
    const action = actionThat(() => {
      throw new Error('x'.repeat(10_000));
    });
    expect(expectFailure(await runAction(action, {})).error.message).toBe(
      `${'x'.repeat(4096)}… (5904 more characters)`,
    );
  });

  it('outputs of a failure that cannot be stored are left out', async () => {
    const action = actionThat(() => {
      throw new TerminalError('X', 'x', { outputs: 'y'.repeat(100) });
    });
    expect(await runAction(action, {}, { outputLimitBytes: 50 })).not.toHaveProperty('outputsText');
  });

  it('an invalid error code is replaced by the general one', async () => {
    const action = actionThat(() => {
      throw new TerminalError('', 'x');
    });
    expect(expectFailure(await runAction(action, {})).error.code).toBe('ACTION_FAILED');
  });
});

describe('an invalid result', () => {
  it.each<[string, unknown]>([
    ['outputs without the wrapper', { ts: '1' }],
    ['null', null],
    ['a string', 'done'],
    ['links that are not a list', { outputs: {}, resourceLinks: 'x' }],
    ['a link without an id', { outputs: {}, resourceLinks: [{ system: 'a', resourceType: 'b' }] }],
  ])('a result with %s fails the attempt', async (_name, returned) => {
    expect(
      expectFailure(
        await runAction(
          actionThat(() => returned),
          {},
        ),
      ),
    ).toMatchObject({
      retryable: false,
      error: { code: 'ACTION_RESULT_INVALID' },
    });
  });
});
