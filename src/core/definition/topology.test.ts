import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codesOf, graph, node, pipeline, problemsOf, to } from './definition.testing.ts';
import { type Arc, adjacency, reachable, upstream, walk } from './topology.ts';

const arcs = (size: number) => fc.array(fc.record({ from: fc.nat(size - 1), to: fc.nat(size - 1) }), { maxLength: 40 });

/** Tries every path: obviously right, and far too slow for real use. */
function pathExists(all: readonly Arc[], from: number, to: number, seen = new Set<number>()): boolean {
  return all.some((arc) => {
    if (arc.from !== from || seen.has(arc.to)) return false;
    return arc.to === to || pathExists(all, arc.to, to, new Set([...seen, arc.to]));
  });
}

describe('walking the edges', () => {
  it('a cycle is found exactly when a node leads to itself, and every reported cycle is real', () => {
    fc.assert(
      fc.property(arcs(7), (all) => {
        const { cycles } = walk(adjacency(7, all));
        const tangled = [0, 1, 2, 3, 4, 5, 6].some((each) => pathExists(all, each, each));
        expect(cycles.length > 0).toBe(tangled);
        for (const cycle of cycles) {
          cycle.forEach((from, index) => {
            const next = cycle[(index + 1) % cycle.length]!;
            expect(all.some((arc) => arc.from === from && arc.to === next)).toBe(true);
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  it('an acyclic graph is ordered, and the nodes before each node are known', () => {
    fc.assert(
      fc.property(arcs(40), (all) => {
        const forward = all.filter(({ from, to: target }) => from < target);
        const next = adjacency(40, forward);
        const { order, cycles } = walk(next);
        expect(cycles).toEqual([]);
        for (const { from, to: target } of forward) expect(order.indexOf(from)).toBeLessThan(order.indexOf(target));
        const isUpstream = upstream(order, next);
        for (let from = 0; from < 40; from++) {
          const seen = reachable(from, next);
          for (let target = 0; target < 40; target++) {
            expect(isUpstream(from, target)).toBe(from !== target && seen[target] === 1);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('the graph as a whole', () => {
  it('a cycle is printed as a path', () => {
    expect(problemsOf(graph([node('a', to('b')), node('b', to('c')), node('c', to('a'))]))).toEqual([
      {
        code: 'CYCLE',
        path: '/nodes/2/edges/0/targetNode',
        message: 'the nodes form a cycle: a → b → c → a',
        suggestion: 'remove one of its edges',
      },
    ]);
  });

  it('cycles over failure edges are found, and each group of connected cycles is reported once', () => {
    const nodes = [
      node('a', to('b', 'x')),
      node('b', { ...to('c'), onFailure: 'a' }),
      node('c', to('b')),
      node('x', to('y')),
      node('y', to('x')),
    ];
    const cycles = problemsOf(graph(nodes)).map(({ message }) => message.replace('the nodes form a cycle: ', ''));
    expect(cycles).toHaveLength(2);
    expect(cycles).toContainEqual('x → y → x');
  });

  it('the message for a long cycle leaves out the middle', () => {
    const nodes = Array.from({ length: 30 }, (_, index) => node(`n${index}`, to(`n${(index + 1) % 30}`)));
    const [problem] = problemsOf(graph(nodes, { startNode: 'n0' }));
    expect(problem!.message).toMatch(/: n0 → n1 → .* → n9 → … \(10 more\) … → n20 → .* → n29 → n0$/);
  });

  it('cycles of needs, and tasks that need themselves, are found', () => {
    const task = (needs: string[]) => ({ sleep: 1, needs });
    expect(problemsOf(pipeline({ a: task(['b']), b: task(['a']) }))).toMatchObject([
      { code: 'CYCLE', message: 'the tasks form a cycle: a → b → a', path: '/tasks/a/needs/0' },
    ]);
    expect(problemsOf(pipeline({ a: task(['a']) }))).toEqual([
      {
        code: 'SELF_EDGE',
        path: '/tasks/a/needs/0',
        message: '`a` needs itself',
        suggestion: 'a task runs once; use `retries` to try it again',
      },
    ]);
    expect(codesOf(graph([node('a', to('a'))]))).toEqual(['SELF_EDGE /nodes/0/edges/0/targetNode']);
  });

  it('nodes that can never run are reported', () => {
    expect(problemsOf(graph([node('a'), node('b', to('c')), node('c')]))).toMatchObject([
      { code: 'UNREACHABLE', path: '/nodes/1', message: '`b` can never run: no path leads to it from `a`' },
      { code: 'UNREACHABLE', path: '/nodes/2' },
    ]);
    expect(codesOf(graph([node('a'), node('b')], { startNode: 'zzzz' }))).toEqual(['UNKNOWN_NODE /startNode']);
  });
});
