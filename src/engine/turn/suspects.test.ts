import { describe, expect, it } from 'vitest';
import { mostCrashesBeside } from './suspects.ts';

const crashed = (...counts: number[]) => counts.map((crashes) => ({ crashes }));

describe('executions claimed beside suspects', () => {
  it.each([
    { here: crashed(), max: 3, most: Number.POSITIVE_INFINITY, why: 'nobody is suspected' },
    { here: crashed(2), max: 3, most: 2, why: 'there is room for those who have more than one chance' },
    { here: crashed(...Array<number>(10).fill(2)), max: 3, most: 1, why: 'enough are here' },
    { here: crashed(3), max: 3, most: 1, why: 'one runs alone' },
    { here: crashed(2), max: 2, most: 1, why: 'the second crash leaves only one chance' },
    { here: crashed(2), max: 1, most: 1, why: 'the second crash leaves none' },
  ])('executions with at most $most crashes are claimed: $why', ({ here, max, most }) => {
    expect(mostCrashesBeside(here, max)).toBe(most);
  });
});
