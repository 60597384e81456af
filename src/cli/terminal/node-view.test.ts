import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ExecutionJson } from '../../protocol/execution.ts';
import { createNodeView, duration } from './node-view.ts';

describe('a duration in words', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [999.7, '1.0 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_599_700, '1.0 h'],
    [36 * 3_600_000, '36.0 h'],
    [3 * 86_400_000, '3.0 days'],
  ])('a duration of %d ms is written as %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });
});

describe('a line that is wider than the terminal', () => {
  const error = { code: 'HTTP_STATUS', message: `POST http://127.0.0.1/${'long/'.repeat(30)} answered 503` };
  const nodes = [{ id: 'call', type: 'http.request', status: 'Retrying' as const, attempts: 1, error }];

  afterEach(() => void vi.unstubAllEnvs());

  it('a wide line is cut while the nodes are redrawn, and complete at the end', () => {
    vi.stubEnv('TERM', 'xterm');
    const written: string[] = [];
    const stream = { isTTY: true, rows: 24, columns: 40, write: (text: string) => written.push(text) };
    const view = createNodeView(stream as unknown as NodeJS.WriteStream, { printsId: false });
    view.show(nodes);
    view.show(nodes);
    // With wrapping turned off the terminal cuts lines by itself, however wide the characters are.
    expect(written).toHaveLength(2);
    for (const text of written) {
      expect(text.startsWith('\u001b[?7l')).toBe(true);
      expect(text.endsWith('\u001b[?7h')).toBe(true);
    }

    view.end({ execution: { status: 'Failed', error } as ExecutionJson, nodes }, 5);
    expect(written[2]).not.toContain('\u001b[?7l');
    expect(written[2]).toContain(error.message);
  });
});

describe('more nodes than the terminal has lines', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['all of them where its size is not known', 0, ['a', 'b', 'c', 'd']],
    ['the last ones that fit', 6, ['…', 'c', 'd']],
    ['one where nothing fits', 2, ['…', 'd']],
  ])('a view of too many nodes shows %s', (_, rows, shown) => {
    vi.stubEnv('TERM', 'xterm');
    const written: string[] = [];
    const stream = { isTTY: true, rows, columns: 80, write: (text: string) => written.push(text) };
    const nodes = ['a', 'b', 'c', 'd'].map((id) => ({
      id,
      type: 'core.echo',
      status: 'Running' as const,
      attempts: 1,
    }));
    createNodeView(stream as unknown as NodeJS.WriteStream, { printsId: false }).show(nodes);
    const lines = written.join('').split('\n').slice(0, -1);
    expect(lines.map((line) => /(…)|([abcd]) {2}/.exec(line)?.slice(1).join(''))).toEqual(shown);
  });
});

describe('a node that waits for a subworkflow', () => {
  it('the line of a waiting node names the execution of the subworkflow', () => {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text) };
    const childExecutionId = '01a1e49f-1460-7c7c-a34c-1f4ab8e4a623';
    const node = {
      id: 'settle',
      type: 'subworkflow:settle',
      status: 'Waiting' as const,
      attempts: 1,
      childExecutionId,
    };
    createNodeView(stream as unknown as NodeJS.WriteStream, { printsId: false }).show([node]);
    expect(written).toEqual([`◷ settle  Waiting   for ${childExecutionId}\n`]);
  });
});

describe('loops, waits and compensations', () => {
  it('loops, waits and compensations are described in words, one line each', () => {
    const written: string[] = [];
    const stream = { isTTY: false, write: (text: string) => written.push(text) };
    const view = createNodeView(stream as unknown as NodeJS.WriteStream, { printsId: false });
    const node = { type: 'core.echo', status: 'Succeeded' as const, attempts: 1 };
    const nodes = [
      { ...node, id: 'each', items: { count: 3, succeeded: 2, failed: 1, running: [] } },
      { ...node, id: 'poll', status: 'Waiting' as const, rounds: 2, waits: 'rests until its next round' },
      { ...node, id: 'ask', status: 'Waiting' as const, waits: 'waits for the event order.paid' },
      { ...node, id: 'refund', undoes: 'charge' },
      { ...node, id: 'unlock', isFinally: true },
    ];
    const compensation = { status: 'Succeeded', nodes: [{ nodeId: 'refund', status: 'Succeeded' }] };
    view.end({ execution: { status: 'Failed', compensation } as ExecutionJson, nodes }, 5);
    expect(written.join('')).toBe(`✓ each    Succeeded 2 of 3 done, 1 failed
◷ poll    Waiting   round 2
◷ ask     Waiting   waits for the event order.paid
✓ refund  Succeeded undoes charge
✓ unlock  Succeeded finally

Failed in 5 ms
Cleaned up afterwards: refund.
`);
  });

  it('without redrawing, each round and each tenth of the items gets a line', () => {
    const written: string[] = [];
    const stream = { isTTY: false, write: (text: string) => written.push(text) };
    const view = createNodeView(stream as unknown as NodeJS.WriteStream, { printsId: false });
    const node = { type: 'core.echo', status: 'Running' as const, attempts: 1 };
    for (let done = 0; done <= 100; done++) {
      view.show([{ ...node, id: 'each', items: { count: 100, succeeded: done, failed: 0, running: [] } }]);
    }
    expect(written).toHaveLength(11);
    expect(written[5]).toContain('50 of 100 done');
    for (const rounds of [1, 1, 2]) view.show([{ ...node, id: 'poll', rounds }]);
    expect(written.slice(11).join('')).toMatch(/round 1\n.*round 2\n$/);
  });
});

describe('a node that was skipped', () => {
  it.each([
    ['no satisfied edge', 'not run: no edge led here'],
    ["condition false: trigger.vip === 'yes'", "not run: its condition was false: trigger.vip === 'yes'"],
    ['fail fast', 'not run: fail fast'],
  ])('a skipped node says in words why it was skipped: %s', (reason, said) => {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text) };
    const node = { id: 'call', type: 'core.echo', status: 'Skipped' as const, attempts: 0, reason };
    createNodeView(stream as unknown as NodeJS.WriteStream, { printsId: false }).show([node]);
    expect(written).toEqual([`– call  Skipped   ${said}\n`]);
  });
});
