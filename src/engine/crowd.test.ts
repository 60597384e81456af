import { describe, expect, it } from 'vitest';
import { Crowd } from './crowd.ts';

const waiting = (workflowId: string, count: number) => ({ tenantId: 't', workflowId, count });
const names = (crowd: Crowd) => crowd.list().map(({ workflowId }) => workflowId);

describe('the crowd', () => {
  it('a workflow is crowded at a quarter of the memory, until less than half of that waits', () => {
    const crowd = new Crowd(80);
    expect(crowd.look([waiting('many', 20), waiting('some', 19)])).toBe(false);
    expect(names(crowd)).toEqual(['many']);
    expect(crowd.look([waiting('many', 10), waiting('some', 19)])).toBe(false);
    expect(names(crowd)).toEqual(['many']);
    expect(crowd.look([waiting('many', 9)])).toBe(true);
    expect(crowd.isEmpty).toBe(true);
  });

  it('all waiting workflows are crowded when together they fill half of the memory', () => {
    const crowd = new Crowd(80);
    const crew = Array.from({ length: 40 }, (_, n) => waiting(`w${n}`, 1));
    crowd.look(crew.slice(1));
    expect(crowd.isEmpty).toBe(true);
    crowd.look(crew);
    expect(crowd.list()).toHaveLength(40);
  });
});
