import { describe, expect, it } from 'vitest';
import {
  filterOfSearch,
  isEmptyFilter,
  queryOfFilter,
  readViews,
  searchOfFilter,
  withView,
} from './execution-filter.ts';

describe('filters', () => {
  it('go to the address and back', () => {
    const filter = { why: 'retrying', status: ['Failed', 'TimedOut'], workflowId: 'orders', version: 3, since: '24h' };
    expect(filterOfSearch(searchOfFilter(filter))).toEqual(filter);
    expect(isEmptyFilter({})).toBe(true);
    expect(isEmptyFilter(filter)).toBe(false);
  });

  it('drop what makes no sense in an address', () => {
    const search = {
      why: 'bored',
      status: 'Gone,Failed',
      version: '-1',
      format: 'x',
      since: '3y',
      error: '',
      requestId: 7,
    };
    expect(filterOfSearch(search)).toEqual({ status: ['Failed'], requestId: '7' });
  });

  it('become the question of the list, in whole minutes', () => {
    const now = Date.UTC(2026, 0, 2, 0, 0, 30);
    expect(queryOfFilter({ since: '24h', error: 'x' }, now)).toEqual({
      error: 'x',
      createdAfter: '2026-01-01T00:00:00.000Z',
    });
    expect(queryOfFilter({ why: 'queued' }, now)).toEqual({ why: 'queued' });
  });
});

describe('saved views', () => {
  it('survive whatever stands in the storage', () => {
    expect([null, '{', '7', '[1, {"name":2}, {"name":"x"}, {"name":"x","filter":null}]'].map(readViews)).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect(readViews('[{"name":"mine","filter":{"why":"queued","junk":1}}]')).toEqual([
      { name: 'mine', filter: { why: 'queued' } },
    ]);
  });

  it('of the same name replace each other, and the oldest makes room', () => {
    const views = Array.from({ length: 20 }, (_, index) => ({ name: `v${index}`, filter: {} }));
    expect(withView(views, { name: 'new', filter: {} })).toHaveLength(20);
    expect(withView(views, { name: 'v3', filter: { why: 'queued' } }).at(-1)).toEqual({
      name: 'v3',
      filter: { why: 'queued' },
    });
  });
});
