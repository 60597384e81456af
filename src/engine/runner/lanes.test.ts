import { describe, expect, it } from 'vitest';
import type { Lane } from '../../store/port.ts';
import { Lanes } from './lanes.ts';

const now = 1_000_000;
const lane = (tenantId: string, priority: number, waitedMs = 0): Lane => ({
  tenantId,
  priority,
  oldestReadyAt: now - waitedMs,
});

const row = (tenantId: string, priority: number, readyAt = now) => ({ tenantId, priority, readyAt });

function lanesOf(...given: Lane[]): Lanes {
  const lanes = new Lanes();
  lanes.refresh(given);
  return lanes;
}

const names = (lanes: Lanes, limit = 100) => lanes.next(now, limit).map((next) => `${next.tenantId}${next.priority}`);

describe('the lanes to visit', () => {
  it('no lane is visited when nothing is ready', () => {
    const lanes = new Lanes();
    expect(lanes.isEmpty()).toBe(true);
    expect(names(lanes)).toEqual([]);
  });

  it('the lane with the highest priority of each tenant is visited, in any order of discovery', () => {
    expect(names(lanesOf(lane('a', 1), lane('a', 9), lane('a', 5), lane('b', 0)))).toEqual(['a9', 'b0']);
    expect(names(lanesOf(lane('a', 9), lane('a', 1), lane('b', 0)))).toEqual(['a9', 'b0']);
  });

  it('each visit starts with another tenant', () => {
    const lanes = lanesOf(lane('a', 5), lane('b', 5), lane('c', 5));
    expect([names(lanes), names(lanes), names(lanes), names(lanes)]).toEqual([
      ['a5', 'b5', 'c5'],
      ['b5', 'c5', 'a5'],
      ['c5', 'a5', 'b5'],
      ['a5', 'b5', 'c5'],
    ]);
  });

  it('every tenant is visited in turn, even when few are visited at a time', () => {
    const tenants = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const lanes = lanesOf(...tenants.map((tenantId) => lane(tenantId, 5)));
    const visited = new Set(Array.from({ length: tenants.length }, () => names(lanes, 2)).flat());
    expect(visited.size).toBe(tenants.length);
  });

  it('a lane that waited longer than a minute comes before the more urgent lane, which is visited too', () => {
    expect(names(lanesOf(lane('a', 0, 60_001), lane('a', 5), lane('a', 9)))).toEqual(['a0', 'a9']);
    expect(names(lanesOf(lane('a', 9), lane('a', 5), lane('a', 0, 60_001)))).toEqual(['a0', 'a9']);
    expect(names(lanesOf(lane('a', 0, 60_000), lane('a', 9)))).toEqual(['a9']);
    expect(names(lanesOf(lane('a', 0, 70_000), lane('a', 1, 70_000), lane('a', 9))).sort()).toEqual(['a0', 'a1', 'a9']);
  });
});

describe('lanes that a hint names', () => {
  it('a lane of a hint comes after the known lanes, once', () => {
    const lanes = lanesOf(lane('a', 5));
    lanes.add([lane('b', 5), lane('a', 5), lane('b', 5), lane('b', 9)]);
    expect(names(lanes)).toEqual(['a5', 'b9']);
    lanes.dropExhausted([row('b', 9)], [], 1);
    expect(names(lanes).sort()).toEqual(['a5', 'b5']);
  });
});

describe('exhausted lanes', () => {
  it('a lane that gave less than requested is dropped, and full and unvisited lanes stay', () => {
    const lanes = lanesOf(lane('a', 5), lane('b', 5), lane('c', 5), lane('a', 1));
    const visited = lanes.next(now, 100);
    lanes.dropExhausted(visited, [row('a', 5), row('c', 5), row('c', 5)], 2);
    expect(names(lanes).sort()).toEqual(['a1', 'c5']);
    lanes.dropExhausted(lanes.next(now, 100), [], 2);
    expect(lanes.isEmpty()).toBe(true);
  });
});

describe('the low-water mark of a lane', () => {
  const markOf = (lanes: Lanes) => lanes.next(now, 1)[0]!.mark;

  it('the mark of a lane is a little before the newest row taken, and never moves back', () => {
    const lanes = lanesOf(lane('a', 5));
    expect(markOf(lanes)).toBe(0);
    lanes.taken([row('a', 5, 10_000)]);
    lanes.taken([row('a', 5, 4_000)]);
    expect(markOf(lanes)).toBe(9_900);
  });

  it('each lane has its own mark', () => {
    const lanes = lanesOf(lane('a', 5), lane('b', 5));
    lanes.taken([row('a', 5, 10_000)]);
    lanes.taken([row('b', 4, 10_000)]);
    expect(lanes.next(now, 10).map(({ tenantId, mark }) => [tenantId, mark])).toEqual([
      ['a', 9_900],
      ['b', 0],
    ]);
  });

  it('marks are reset from time to time, so that whole lanes are scanned', () => {
    const lanes = lanesOf(lane('a', 5));
    lanes.taken([row('a', 5, 10_000)]);
    lanes.forgetMarks();
    expect(markOf(lanes)).toBe(0);
  });
});
