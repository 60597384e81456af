import { describe, expect, it } from 'vitest';
import { inputChange } from './changed-field.ts';

const GIVEN = { url: 'http://down', body: { amount: 1 } };
const change = (value: unknown) => inputChange(GIVEN, JSON.stringify(value));

describe('a change of the input of a node', () => {
  it('is only what differs', () => {
    expect(change(GIVEN)).toEqual({ changed: {}, refused: null });
    expect(change({ ...GIVEN, url: 'http://up' })).toEqual({ changed: { url: 'http://up' }, refused: null });
    expect(change({ ...GIVEN, body: { amount: 2 }, method: 'PUT' })).toEqual({
      changed: { body: { amount: 2 }, method: 'PUT' },
      refused: null,
    });
  });

  it('is refused where the text is no object, or lacks a field that a merge cannot take out', () => {
    expect(inputChange(GIVEN, '{ "url": ').refused).toContain('not JSON');
    for (const value of [null, 7, []]) expect(change(value).refused).toContain('must be an object');
    expect(change({ url: 'http://up' })).toEqual({ changed: {}, refused: expect.stringContaining('body') });
  });
});
