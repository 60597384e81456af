import { describe, expect, it } from 'vitest';
import { chooseSuspects, mostCrashesBeside } from './suspects.ts';

const crashed = (...counts: number[]) => counts.map((crashes) => ({ crashes }));
const counts = (claims: readonly { crashes: number }[]) => claims.map(({ crashes }) => crashes);

describe('what is claimed beside suspects', () => {
  it.each([
    { here: crashed(), max: 3, most: Number.POSITIVE_INFINITY, why: 'nobody is suspected' },
    { here: crashed(2), max: 3, most: 2, why: 'there is room for those who have more than one chance' },
    { here: crashed(...Array<number>(10).fill(2)), max: 3, most: 1, why: 'enough are here' },
    { here: crashed(3), max: 3, most: 1, why: 'one runs alone' },
    { here: crashed(2), max: 2, most: 1, why: 'the second crash leaves only one chance' },
    { here: crashed(2), max: 1, most: 1, why: 'the second crash leaves none' },
  ])('at most $most crashes: $why', ({ here, max, most }) => {
    expect(mostCrashesBeside(here, max)).toBe(most);
  });
});

describe('the suspects that run now', () => {
  it.each([
    { claimed: crashed(3, 2, 2), here: crashed(), run: [2, 2], why: 'those with more than one chance go first' },
    { claimed: crashed(3, 3), here: crashed(), run: [3], why: 'the last chance is had alone' },
    { claimed: crashed(4, 3), here: crashed(), run: [4], why: 'a culprit is dealt with by itself' },
    { claimed: crashed(2, 2, 2), here: crashed(...Array<number>(8).fill(2)), run: [2, 2], why: 'up to ten' },
    { claimed: crashed(3), here: crashed(2), run: [], why: 'a last chance waits until nobody else is here' },
    { claimed: crashed(2), here: crashed(3), run: [], why: 'nobody joins a last chance' },
  ])('of $claimed.length beside $here.length: $why', ({ claimed, here, run }) => {
    expect(counts(chooseSuspects(claimed, here, 3))).toEqual(run);
  });
});
