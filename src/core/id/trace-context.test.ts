import { describe, expect, it } from 'vitest';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('trace context', () => {
  it('a traceparent header is read and written unchanged', () => {
    const context = { traceId: TRACE, spanId: SPAN, sampled: true };
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual(context);
    expect(formatTraceparent(context)).toBe(`00-${TRACE}-${SPAN}-01`);
    expect(formatTraceparent({ ...context, sampled: false })).toBe(`00-${TRACE}-${SPAN}-00`);
  });

  it.each([
    ['00', false],
    ['01', true],
    ['02', false],
    ['03', true],
  ])('a header with flags %s is recorded: %s', (flags, sampled) => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`)?.sampled).toBe(sampled);
  });

  it('a header of a later version is read as far as it is known', () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
  });

  it.each([
    '',
    'nonsense',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
  ])('an invalid traceparent is ignored: %j', (text) => {
    expect(parseTraceparent(text)).toBeNull();
  });
});
