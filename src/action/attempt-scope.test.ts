import { describe, expect, it } from 'vitest';
import { TerminalError } from '../core/error/error.ts';
import type { Json } from '../core/json/json.ts';
import type { ActionContext } from './action.ts';
import { actionThat, attemptContext, expectFailure, expectSuccess, runAction } from './attempt.testing.ts';
import type { StopSignal } from './stop.ts';

const never = () => new Promise<never>(() => {});

describe('the timeout', () => {
  it('a timeout aborts the signal and is retryable', async () => {
    let reason: unknown;
    const action = actionThat(({ signal }) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason;
      });
      return never();
    });
    expect(await runAction(action, {}, { timeoutMs: 5 })).toEqual({
      ok: false,
      retryable: true,
      timedOut: true,
      error: { code: 'ATTEMPT_TIMEOUT', message: 'The attempt did not finish within 5 ms' },
      logs: [],
    });
    expect(reason).toBeInstanceOf(Error);
  });

  it('a timeout is the outcome even if the action then throws its own error', async () => {
    const action = actionThat(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new TerminalError('OWN', 'own')))),
    );
    expect(expectFailure(await runAction(action, {}, { timeoutMs: 5 })).error.code).toBe('ATTEMPT_TIMEOUT');
  });

  it('an abandoned action has an aborted signal, and its log lines are dropped', async () => {
    const late = Promise.withResolvers<ActionContext>();
    const release = Promise.withResolvers<void>();
    const action = actionThat(async (context) => {
      context.log.info('before');
      await release.promise;
      context.log.info('after');
      late.resolve(context);
      throw new Error('nobody listens');
    });
    const result = expectFailure(await runAction(action, {}, { timeoutMs: 5 }));
    release.resolve();
    expect((await late.promise).signal.aborted).toBe(true);
    expect(result.logs.map(({ message }) => message)).toEqual(['before']);
  });

  it('a timeout also ends a thenable that resolves to a promise that never settles', async () => {
    const method = 'then';
    const action = actionThat(() => ({ [method]: (answer: (value: unknown) => void) => answer(never()) }));
    expect(expectFailure(await runAction(action, {}, { timeoutMs: 5 })).timedOut).toBe(true);
  });

  it('a timeout longer than a timer can be never fires', async () => {
    const action = actionThat(() => new Promise((resolve) => setImmediate(() => resolve({ outputs: 1 }))));
    expect(expectSuccess(await runAction(action, {}, { timeoutMs: 2 ** 40 })).outputs).toBe(1);
  });
});

describe('an abort by the engine', () => {
  it('an action aborted before its start does not run', async () => {
    let ran = false;
    const action = actionThat(() => {
      ran = true;
    });
    const signal = AbortSignal.abort(new Error('cancelled by Ada'));
    expect(await runAction(action, {}, { context: { signal } })).toEqual({
      ok: false,
      retryable: false,
      aborted: true,
      error: { code: 'CANCELLED', message: 'The attempt was told to stop: cancelled by Ada' },
      logs: [],
    });
    expect(ran).toBe(false);
  });

  it('an abort reaches the action, and a failure after it counts as aborted', async () => {
    const controller = new AbortController();
    const action = actionThat(async ({ signal }) => {
      controller.abort('fail fast');
      await null;
      signal.throwIfAborted();
    });
    expect(expectFailure(await runAction(action, {}, { context: { signal: controller.signal } }))).toMatchObject({
      aborted: true,
      error: { code: 'CANCELLED', message: 'The attempt was told to stop: fail fast' },
    });
  });

  it('an action that finishes despite the abort keeps its real outcome', async () => {
    const controller = new AbortController();
    const action = actionThat(
      ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outputs: { sent: true } }))),
    );
    const running = runAction(action, {}, { context: { signal: controller.signal } });
    controller.abort();
    expect(expectSuccess(await running).outputs).toEqual({ sent: true });
  });

  it('a terminal failure after an abort is kept', async () => {
    const controller = new AbortController();
    const action = actionThat(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new TerminalError('REFUSED', 'no')))),
    );
    const running = runAction(action, {}, { context: { signal: controller.signal } });
    controller.abort();
    const failure = expectFailure(await running);
    expect(failure.error.code).toBe('REFUSED');
    expect(failure.aborted).toBeUndefined();
  });

  it('an action that ignores the abort is abandoned after the grace period', async () => {
    const controller = new AbortController();
    const running = runAction(actionThat(never), {}, { abortGraceMs: 5, context: { signal: controller.signal } });
    controller.abort();
    expect(expectFailure(await running)).toMatchObject({ aborted: true, retryable: false });
  });
});

describe('secrets', () => {
  const token = 'tok"en-1';
  const credentials = { token: (id: string) => (id === 'slack' ? token : undefined) };

  it('secrets that were handed out appear in no error, failure output or log line', async () => {
    const action = actionThat((context) => {
      const secret = context.credentials.token('slack');
      context.log.warn(`using ${secret}`, { header: `Bearer ${secret}` });
      throw new TerminalError('HTTP_STATUS', `401 for ${secret} and ?t=${encodeURIComponent(String(secret))}`, {
        outputs: { echoed: `Bearer ${secret}` } as Json,
      });
    });
    const failure = expectFailure(await runAction(action, {}, { context: { credentials } }));
    expect(failure).toMatchObject({
      error: { message: '401 for [redacted] and ?t=[redacted]' },
      outputs: { echoed: 'Bearer [redacted]' },
      logs: [{ level: 'warn', message: 'using [redacted]', data: '{"header":"Bearer [redacted]"}' }],
    });
    expect(JSON.stringify(failure)).not.toContain('en-1');
  });

  it('secrets are removed before a long message is cut, so no part of one remains', async () => {
    const action = actionThat((context) => {
      throw new Error('x'.repeat(4090) + context.credentials.token('slack'));
    });
    const { message } = expectFailure(await runAction(action, {}, { context: { credentials } })).error;
    expect(message).not.toContain('tok');
  });

  it('a connector without a token has no secret', async () => {
    const action = actionThat(({ credentials: { token: tokenOf } }) => ({
      outputs: { has: tokenOf('monday') !== undefined },
    }));
    expect(expectSuccess(await runAction(action, {}, { context: { credentials } })).outputs).toEqual({ has: false });
  });
});

describe('log lines', () => {
  it('a log line has time, level, message and data of any kind', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const action = actionThat(({ log }) => {
      log.debug('plain');
      log.info('with data', { rows: 3 });
      log.error('odd\u0000', circular);
      log.warn('function', () => {});
      log.info('large', 'y'.repeat(5000));
    });
    const { logs } = await runAction(action, {});
    expect(logs.slice(0, 4)).toEqual([
      { at: 1_700_000_000_000, level: 'debug', message: 'plain', data: null },
      { at: 1_700_000_000_000, level: 'info', message: 'with data', data: '{"rows":3}' },
      { at: 1_700_000_000_000, level: 'error', message: 'odd\ufffd', data: '"[not JSON]"' },
      { at: 1_700_000_000_000, level: 'warn', message: 'function', data: '"[not JSON]"' },
    ]);
    expect(JSON.parse(logs[4]?.data ?? '')).toMatch(/y… \(906 more characters\)$/);
  });

  it('log lines are limited in number, and the limit is logged', async () => {
    const action = actionThat(({ log }) => {
      for (let line = 0; line < 250; line += 1) log.info(`line ${line}`);
    });
    const { logs } = await runAction(action, {});
    expect(logs).toHaveLength(201);
    expect(logs.at(-1)).toMatchObject({ level: 'warn', message: '… (50 more lines)' });
  });
});

describe('the context of an action', () => {
  it('the context has the ids and the principal of the attempt, and finds resources', async () => {
    const found = { executionId: 'e', nodeId: 'n', url: null };
    const action = actionThat(
      async ({ executionId, nodeId, attempt, idempotencyKey, principal, correlationId, tenantId, findResource }) => ({
        outputs: {
          executionId,
          nodeId,
          attempt,
          idempotencyKey,
          principal,
          correlationId,
          tenantId,
          found: await findResource({ system: 's', resourceType: 't', resourceId: 'i' }),
        },
      }),
    );
    const context = attemptContext({ attempt: 3, findResource: async () => found });
    const { executionId, nodeId, idempotencyKey, principal, correlationId, tenantId } = context;
    expect(expectSuccess(await runAction(action, {}, { context })).outputs).toEqual({
      executionId,
      nodeId,
      attempt: 3,
      idempotencyKey,
      principal,
      correlationId,
      tenantId,
      found,
    });
  });

  it('HTTP requests stop with the attempt, or with the signal they were given', async () => {
    const seen: StopSignal[] = [];
    const own = new AbortController();
    const http = {
      request: async ({ signal }: { signal?: StopSignal }) => {
        if (signal !== undefined) seen.push(signal);
        return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, url: '' };
      },
    };
    const action = actionThat(async (context) => {
      await context.http.request({ url: 'https://example.com' });
      await context.http.request({ url: 'https://example.com', signal: own.signal });
      return never();
    });
    const running = runAction(action, {}, { timeoutMs: 20, context: { http } });
    await running;
    expect(seen.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});
