import { describe, expect, it } from 'vitest';
import { shareClaim, tenantShare } from './tenant-share.ts';

describe('the share of a tenant', () => {
  it.each([
    ['nothing of it is here', 5, 0, 40],
    ['half of it is here', 5, 20, 20],
    ['more than half of it is here', 5, 21, 0],
    ['all of it is here', 5, 40, 0],
    ['it has no bound', Number.POSITIVE_INFINITY, 700, Number.POSITIVE_INFINITY],
  ])('the share of a tenant when %s', (_when, stepsAtOnce, held, share) => {
    expect(tenantShare(stepsAtOnce, held)).toBe(share);
  });
});

describe('a claim', () => {
  const claim = (shares: Record<string, number>) => {
    const lanes = Object.keys(shares).map((tenantId) => ({ tenantId }));
    const { lanes: taken, ...rest } = shareClaim(lanes, 200, (tenantId) => shares[tenantId]!);
    return { ...rest, taken: taken.map(({ tenantId }) => tenantId) };
  };
  const free = Number.POSITIVE_INFINITY;

  it.each<[string, Record<string, number>, string[], number, boolean]>([
    ['takes of everybody when nobody has a share', { a: free, b: free }, ['a', 'b'], 200, false],
    ['takes the share of the first, alone', { small: 40, b: free }, ['small'], 40, true],
    ['takes no more than there is room', { small: 4_000, b: free }, ['small'], 200, true],
    ['takes of the others when the first has enough', { small: 0, b: free, c: free }, ['b', 'c'], 200, true],
    ['leaves a share for its turn', { b: free, small: 40 }, ['b'], 200, true],
    ['goes on to the next share when there is nothing else', { full: 0, small: 8 }, ['small'], 8, true],
    ['takes nothing when everybody has enough', { full: 0, other: 0 }, [], 0, true],
  ])('a claim %s', (_what, shares, taken, limit, leavesSome) => {
    expect(claim(shares)).toEqual({ taken, limit, leavesSome });
  });
});
