import { describe, expect, it } from 'vitest';
import type { RetryRule } from '../plan/plan.ts';
import { isAmong, ruleFor } from './error-match.ts';

const status = (code: number, name = 'status') => ({ error: { code: 'HTTP_STATUS' }, outputs: { [name]: code } });

describe('a list of codes', () => {
  it.each([
    ['its own code', ['NETWORK_ERROR'], { error: { code: 'NETWORK_ERROR' } }, true],
    ['another code', ['NETWORK_ERROR'], { error: { code: 'OTHER' } }, false],
    ['every code, by *', ['*'], { error: { code: 'OTHER' } }, true],
    ['a status', ['HTTP_503'], status(503), true],
    ['the status of a pipeline', ['HTTP_503'], status(503, 'status_code'), true],
    ['another status', ['HTTP_503'], status(500), false],
    ['a hundred of statuses', ['HTTP_5XX'], status(502), true],
    ['not those of another hundred', ['HTTP_5XX'], status(404), false],
    ['no status where there is no response', ['HTTP_503'], { error: { code: 'HTTP_STATUS' } }, false],
    ['no status where it is no number', ['HTTP_503'], { error: { code: 'X' }, outputs: { status: 'bad' } }, false],
    ['a timeout by its code', ['TIMEOUT'], { error: { code: 'HTTP_TIMEOUT' } }, true],
    ['a timeout by its outcome', ['TIMEOUT'], { error: { code: 'LATE' }, timedOut: true }, true],
    ['a broken connection', ['NETWORK'], { error: { code: 'NETWORK_ERROR' }, timedOut: true }, true],
    ['no timeout as a broken connection', ['NETWORK'], { error: { code: 'X' }, timedOut: true }, false],
  ])('a list of codes matches %s', (_, codes, failure, expected) => {
    expect(isAmong(codes, failure)).toBe(expected);
  });
});

describe('retry rules', () => {
  const rule = (on: string[], maxAttempts: number): RetryRule => ({
    on,
    maxAttempts,
    baseDelayMs: 1,
    backoffFactor: 1,
    maxDelayMs: null,
    jitter: false,
  });
  const rules = [rule(['HTTP_503', 'GONE'], 5), rule(['*'], 2)];

  it('the first retry rule that matches applies', () => {
    expect(ruleFor(rules, { ...status(503), retryable: true })?.maxAttempts).toBe(5);
    expect(ruleFor(rules, { ...status(500), retryable: true })?.maxAttempts).toBe(2);
  });

  it('an error marked as final is retried only when a rule names it', () => {
    expect(ruleFor(rules, { error: { code: 'GONE' }, retryable: false })?.maxAttempts).toBe(5);
    expect(ruleFor(rules, { error: { code: 'OTHER' }, retryable: false })).toBeNull();
  });

  it('an error that no rule matches is final', () => {
    expect(ruleFor([rule(['GONE'], 5)], { error: { code: 'OTHER' }, retryable: true })).toBeNull();
  });

  it('parameters that could not be rendered are never retried', () => {
    expect(ruleFor([rule(['TEMPLATE_ERROR'], 5)], { error: { code: 'TEMPLATE_ERROR' }, retryable: false })).toBeNull();
  });
});
