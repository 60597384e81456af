import { describe, expect, it } from 'vitest';
import { compiled, graph, node as written } from '../core/definition/definition.testing.ts';
import { asideOf, isCallback, progressTexts, undoneText, waitText } from './step-text.ts';

describe('the description of a wait', () => {
  const wait = { kind: 'wait', callback: false, events: [], timeoutMs: null, onTimeout: 'fail', count: 1, until: null };
  const event = { type: 'order.paid', at: null, key: null };

  it('a wait is described in words', () => {
    expect(waitText({ kind: 'webhook', timeoutMs: null })).toBe('waits for its callback');
    expect(waitText({ ...wait, callback: true } as never)).toBe('waits for its callback');
    expect(waitText({ ...wait, events: [event, event] } as never)).toBe('waits for the event order.paid');
    expect(waitText({ ...wait, callback: true, count: 2, events: [event] } as never)).toBe(
      'waits for its callback or 2 × the event order.paid',
    );
    expect(waitText({ kind: 'subworkflow' } as never)).toContain('the execution that it started');
    expect(waitText({ kind: 'forEach' } as never)).toContain('items');
    expect(waitText({ kind: 'repeat' } as never)).toContain('round');
    expect(waitText(undefined)).toBe('waits');
  });

  it('only a wait for a callback can be continued by hand', () => {
    expect(isCallback({ kind: 'webhook', timeoutMs: null })).toBe(true);
    expect(isCallback({ ...wait, callback: true } as never)).toBe(true);
    expect(isCallback({ ...wait, events: [event] } as never)).toBe(false);
    expect(isCallback(undefined)).toBe(false);
  });

  it('the outcome of compensations is described in words', () => {
    const of = (...statuses: string[]) =>
      undoneText({ nodes: statuses.map((status) => ({ nodeId: 'refund', status })) });
    expect(of('Succeeded')).toMatchObject({ tone: 'ok', text: expect.stringContaining('refund') });
    expect(of('Failed')).toMatchObject({ tone: 'bad', text: expect.stringContaining('refund') });
    expect(of('Skipped', 'Pending')).toBeNull();
    expect(undoneText(undefined)).toBeNull();
  });
});

describe('nodes beside the graph, and loops', () => {
  const node = { id: 'n', type: 'core.echo', status: 'Running' as const, attempts: 1 };

  it('a node beside the graph says what it is for, and a loop says its progress', () => {
    expect(progressTexts(node)).toEqual([]);
    expect(progressTexts({ ...node, undoes: 'charge' })).toEqual(['undoes charge']);
    expect(progressTexts({ ...node, isFinally: true, status: 'Pending', rounds: 0 })).toEqual(['finally']);
    expect(progressTexts({ ...node, rounds: 3 })).toEqual(['round 3']);
    const items = { count: 9, succeeded: 4, failed: 0, running: [] };
    expect(progressTexts({ ...node, items })).toEqual(['4 of 9 done']);
    expect(progressTexts({ ...node, items: { ...items, failed: 1, running: [5, 6] } })).toEqual([
      '4 of 9 done, 1 failed, 2 running',
    ]);
  });

  it('compensations and finally nodes are found in the plan', () => {
    const plan = compiled(
      graph([written('a', { compensate: 'undo' }), written('undo'), written('last')], { finally: ['last'] }),
    );
    expect([...asideOf(plan)]).toEqual([
      [1, { undoes: 'a' }],
      [2, { isFinally: true }],
    ]);
  });
});
