import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

function drained(queue: FairQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

describe('a fair queue', () => {
  it('a fair queue lets owners take turns, and keeps the order of each owner', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.push(item.charAt(0), item);
    expect(queue.size).toBe(6);
    expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(queue.size).toBe(0);
  });

  it('a fair queue forgets removed items, and owners without items', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
    queue.remove('a', 'a1');
    queue.remove('a', 'a1');
    queue.remove('b', 'b1');
    queue.remove('c', 'c1');
    expect(queue.size).toBe(1);
    expect(drained(queue)).toEqual(['a2']);
  });
});
