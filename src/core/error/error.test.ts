import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from './codes.ts';
import { isRetryableError, isTerminalError, RetryableError, TerminalError } from './error.ts';
import { cleanMessage, cleanText } from './message.ts';

describe('error classes', () => {
  it('a TerminalError carries code, message, outputs and cause', () => {
    const cause = new Error('socket closed');
    const error = new TerminalError('HTTP_STATUS', 'answered 404', { outputs: { status: 404 }, cause });
    expect(error).toMatchObject({ name: 'TerminalError', code: 'HTTP_STATUS', outputs: { status: 404 }, cause });
    expect(isTerminalError(error)).toBe(true);
    expect(isRetryableError(error)).toBe(false);
  });

  it('a RetryableError may ask for a delay', () => {
    const error = new RetryableError('HTTP_STATUS', 'answered 429', { retryAfterMs: 1500 });
    expect(error).toMatchObject({ name: 'RetryableError', retryAfterMs: 1500, outputs: undefined });
    expect('cause' in error).toBe(false);
    expect(isRetryableError(error)).toBe(true);
    expect(isTerminalError(error)).toBe(false);
  });

  it('the options of an error may be left out', () => {
    expect(new TerminalError('ACTION_FAILED', 'no').outputs).toBeUndefined();
    expect(new RetryableError('ACTION_FAILED', 'no').retryAfterMs).toBeUndefined();
  });

  it('errors of another copy of the package are recognised by their mark', () => {
    const foreign = Object.assign(new Error('foreign'), { [Symbol.for('pawl.error.disposition')]: 'terminal' });
    expect(isTerminalError(foreign)).toBe(true);
  });

  it('any other error is neither terminal nor retryable', () => {
    for (const thrown of [new Error('x'), 'x', null, undefined, { code: 'X' }]) {
      expect(isTerminalError(thrown)).toBe(false);
      expect(isRetryableError(thrown)).toBe(false);
    }
  });
});

describe('error codes', () => {
  it('every code has a sentence and a valid HTTP status', () => {
    for (const [code, { message, httpStatus }] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(message).toMatch(/^[A-Z].*\.$/);
      expect(httpStatus).toBeGreaterThanOrEqual(400);
      expect(httpStatus).toBeLessThan(600);
    }
  });
});

describe('messages for text columns', () => {
  it('U+0000 and lone surrogates in a message are replaced, and surrogate pairs are kept', () => {
    expect(cleanText('a\u0000b')).toBe('a\ufffdb');
    expect(cleanText('a\ud800b\udc00')).toBe('a\ufffdb\ufffd');
    expect(cleanText('ok 😀')).toBe('ok 😀');
  });

  it('a long message is cut, and says by how much', () => {
    expect(cleanMessage('x'.repeat(4096))).toBe('x'.repeat(4096));
    expect(cleanMessage('x'.repeat(5000))).toBe(`${'x'.repeat(4096)}… (904 more characters)`);
  });

  it('a message cut inside a surrogate pair contains no half of it', () => {
    expect(cleanMessage('ab😀cd', 3)).toBe('ab\ufffd… (3 more characters)');
  });
});
