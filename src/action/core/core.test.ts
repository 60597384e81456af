import { describe, expect, it } from 'vitest';
import { expectFailure, expectSuccess, runAction } from '../attempt.testing.ts';
import { delay } from './delay.ts';
import { echo } from './echo.ts';
import { fail } from './fail.ts';
import { sometimesFails } from './sometimes-fails.ts';
import { transform } from './transform.ts';

describe('core.echo', () => {
  it('core.echo returns its parameters', async () => {
    const parameters = { a: 1, nested: { list: [null, 'x'] } };
    expect(expectSuccess(await runAction(echo, parameters)).outputs).toEqual(parameters);
  });

  it('core.echo lets no key reach a prototype', async () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    await runAction(echo, hostile);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('core.echo accepts only an object', async () => {
    expect(expectFailure(await runAction(echo, [1])).error.code).toBe('PARAMETERS_INVALID');
  });
});

describe('core.fail', () => {
  it('core.fail is not retried by default', async () => {
    expect(await runAction(fail, {})).toMatchObject({
      retryable: false,
      error: { code: 'ACTION_FAILED', message: 'The workflow asked to fail' },
    });
  });

  it('core.fail takes message, code and retryable', async () => {
    expect(await runAction(fail, { message: 'stock is empty', code: 'NO_STOCK', retryable: true })).toMatchObject({
      retryable: true,
      error: { code: 'NO_STOCK', message: 'stock is empty' },
    });
  });
});

describe('core.sometimes-fails', () => {
  const on = (attempt: number, parameters = {}) => runAction(sometimesFails, parameters, { context: { attempt } });

  it('core.sometimes-fails fails once by default, with a retryable error', async () => {
    expect(await on(1)).toMatchObject({
      ok: false,
      retryable: true,
      error: { message: 'Attempt 1 fails; failTimes is 1' },
    });
    expect(await on(2)).toMatchObject({ ok: true, outputs: {} });
  });

  it('core.sometimes-fails fails failTimes times, then echoes its other parameters', async () => {
    expect(await on(3, { failTimes: 3, order: 7 })).toMatchObject({ ok: false, retryable: true });
    expect(await on(4, { failTimes: 3, order: 7 })).toMatchObject({ ok: true, outputs: { order: 7 } });
    expect(await on(1, { failTimes: 0 })).toMatchObject({ ok: true });
  });
});

describe('core.delay', () => {
  it('core.delay declares the outputs of its timer', () => {
    expect(delay.outputs.safeParse({}).success).toBe(false);
    expect(delay.outputs.parse({ sleptMs: 10 })).toEqual({ sleptMs: 10 });
  });

  it('core.delay is in the catalog but cannot be run as an action', async () => {
    expect(await runAction(delay, { durationMs: 10 })).toMatchObject({
      retryable: false,
      error: { message: expect.stringContaining('timer of the engine') },
    });
  });

  it('core.delay checks its parameters', async () => {
    expect(expectFailure(await runAction(delay, { durationMs: -1 })).error.code).toBe('PARAMETERS_INVALID');
  });
});

describe('core.transform', () => {
  it('core.transform reshapes its input', async () => {
    const input = {
      items: [
        { open: true, n: 1 },
        { open: false, n: 2 },
        { open: true, n: 3 },
      ],
    };
    const expression = 'input.items.filter(item => item.open).map(item => item.n)';
    expect(expectSuccess(await runAction(transform(), { expression, input })).outputs).toEqual({ result: [1, 3] });
  });

  it('core.transform gives null for a missing value', async () => {
    expect(expectSuccess(await runAction(transform(), { expression: 'input.a', input: {} })).outputs).toEqual({
      result: null,
    });
  });

  it('an invalid expression of core.transform is reported with its place', async () => {
    const failure = expectFailure(await runAction(transform(), { expression: 'input.a +', input: {} }));
    expect(failure).toMatchObject({ retryable: false, error: { code: 'PARAMETERS_INVALID' } });
    expect(failure.error.message).toMatch(/^The expression is not valid: .*\(line 1, column \d+\)/);
  });

  it('core.transform reads nothing but its input', async () => {
    expect(expectFailure(await runAction(transform(), { expression: 'process.env' })).error.code).toBe(
      'PARAMETERS_INVALID',
    );
  });

  it.each([
    ['input.a.b', 'EVALUATION_ERROR'],
    ["'a'.repeat(1e9)", 'BUDGET_EXCEEDED'],
  ])('the expression %s fails for good with %s', async (expression, code) => {
    expect(expectFailure(await runAction(transform(), { expression, input: {} }))).toMatchObject({
      retryable: false,
      error: { code },
    });
  });
});
