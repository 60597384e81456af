import { describe, expect, it } from 'vitest';
import { eventText } from './event-text.ts';

const say = (data: unknown) => eventText(data, (iso) => iso.slice(11, 16));

describe('the line of an event', () => {
  it('says attempts, errors and times', () => {
    expect(say({ attempt: 1, rendered: true })).toBe('attempt 1');
    const error = { code: 'HTTP_STATUS', message: 'answered 503' };
    expect(say({ attempt: 2, error, until: '2026-01-01T02:30:00.000Z' })).toBe(
      'attempt 2, HTTP_STATUS: answered 503, until 02:30',
    );
    expect(say({ attempt: 1, bytes: 120 })).toBe('attempt 1, 120 B');
    expect(say({ outcome: 'Failed', error: 'broken' })).toBe('as Failed, broken');
    expect(say({ deadline: '2026-01-01T02:30:00.000Z' })).toBe('deadline 02:30');
  });

  it('says which edges were taken and which were not', () => {
    const edge = (to: string) => ({ from: 'a', to, when: 'success' });
    expect(say({ satisfied: [edge('b')], unsatisfied: [edge('c')] })).toBe('a → b, not taken: a → c');
    expect(say({ satisfied: ['#3'], unsatisfied: [] })).toBe('#3');
  });

  it('says signals, resets, skips and log lines', () => {
    expect(say({ signalId: 'x', signal: 'RETRY_STEP', payload: { stepId: 'charge' } })).toBe('RETRY_STEP, charge');
    expect(say({ signal: 'PAUSE', payload: {}, refused: 'it has ended' })).toBe('PAUSE, refused: it has ended');
    expect(say({ nodes: ['a', 'b'] })).toBe('a, b');
    expect(say({ nodes: 7, reason: 'no satisfied edge' })).toBe('no satisfied edge');
    expect(say({ message: 'hello', attempt: 1 })).toBe('hello, attempt 1');
  });

  it('shows what it has no words for as it is', () => {
    expect(say({ generation: 2 })).toBe('{"generation":2}');
    expect(say({})).toBe('');
    expect(say(undefined)).toBe('');
    expect(say([1])).toBe('[1]');
  });
});
