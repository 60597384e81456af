import { describe, expect, it } from 'vitest';
import { DELIVERED, sentOf } from './channel.ts';

const said = (outcome: string, rest = {}) => ({
  ...{ stage: 'Processed', outcome, message: null, retryAt: null, result: null },
  ...rest,
});

describe('the answer of a consumer', () => {
  it.each([undefined, null, 'ok', 1, {}, [], { stage: 'Delivered' }, { stage: 'processed' }])(
    'the answer %j counts as delivered',
    (answer) => {
      expect(sentOf(answer)).toBe(DELIVERED);
    },
  );

  it('the answer Processed counts as a success unless it has another outcome', () => {
    expect(sentOf({ stage: 'Processed' })).toEqual(said('succeeded'));
    expect(sentOf({ stage: 'Processed', message: 'fine', retryAt: 'ignored' })).toEqual(
      said('succeeded', { message: 'fine' }),
    );
  });

  it('a failure is final, unless it says when to retry', () => {
    expect(sentOf({ outcome: 'failed' })).toEqual(said('failed'));
    const retryAt = Date.UTC(2030, 0, 1);
    for (const time of [retryAt, new Date(retryAt), '2030-01-01T00:00:00Z']) {
      expect(sentOf({ stage: 'Processed', outcome: 'failed', retryAt: time })).toEqual(said('failed', { retryAt }));
    }
  });

  it('a retry time that cannot be read is refused, not taken as final', () => {
    expect(() => sentOf({ outcome: 'failed', retryAt: 'soon' })).toThrow(/retryAt/);
  });

  it('a result is kept unchanged, and refused when it is too large', () => {
    expect(sentOf({ stage: 'Processed', result: { score: 7 } })).toEqual(said('succeeded', { result: '{"score":7}' }));
    expect(() => sentOf({ stage: 'Processed', result: 'x'.repeat(70_000) })).toThrow('`result` has more than');
  });

  it('a long message is cut', () => {
    expect(sentOf({ outcome: 'failed', message: 'x'.repeat(5_000) })).toEqual(
      said('failed', { message: 'x'.repeat(2_000) }),
    );
  });
});
