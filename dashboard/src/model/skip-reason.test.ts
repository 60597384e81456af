import { describe, expect, it } from 'vitest';
import type { GraphJson } from '../../../src/protocol/execution.ts';
import { skipReason } from './skip-reason.ts';

const node = (id: string, status: string, reason?: string) =>
  ({ id, type: 'core.echo', status, attempts: 0, ...(reason === undefined ? {} : { reason }) }) as never;
const skipped = node('b', 'Skipped', 'no satisfied edge');
const graph = (from: readonly unknown[], edges: readonly object[]): GraphJson =>
  ({
    status: 'Running',
    nodes: [...from, skipped],
    edges: edges.map((edge) => ({ from: 'a', to: 'b', when: 'success', state: 'unsatisfied', ...edge })),
  }) as never;

describe('why a node was skipped', () => {
  it.each([
    ['Failed', {}, 'a failed'],
    ['TimedOut', {}, 'a failed'],
    ['Failed', { when: 'always' }, 'a did not lead here'],
    ['Skipped', {}, 'a was skipped'],
    ['Cancelled', {}, 'a was cancelled'],
    ['Succeeded', { when: 'failure' }, 'a did not fail'],
    ['Succeeded', { condition: 'x > 1' }, 'the condition after a is false'],
    ['Succeeded', {}, 'a did not lead here'],
    ['Pending', {}, 'a did not lead here'],
  ])('after %s %j: %s', (status, edge, text) => {
    expect(skipReason(graph([node('a', status)], [edge]), 'b')).toBe(text);
  });

  it('names each cause once, and the first two of many', () => {
    const sources = ['a', 'c', 'd'].map((id) => node(id, 'Skipped'));
    expect(skipReason(graph(sources, [{}, {}, { from: 'c' }]), 'b')).toBe('a was skipped, c was skipped');
    expect(skipReason(graph(sources, [{}, { from: 'c' }, { from: 'd' }]), 'b')).toBe('a was skipped, c was skipped …');
  });

  it('says what the engine says where no edge leads, of other reasons, and nothing of a node that ran', () => {
    expect(skipReason(graph([], []), 'b')).toBe('no satisfied edge');
    expect(skipReason(graph([node('a', 'Skipped', 'condition false: x')], []), 'a')).toBe('condition false: x');
    expect(skipReason(graph([node('a', 'Succeeded')], []), 'a')).toBeUndefined();
    expect(skipReason(graph([], []), 'nobody')).toBeUndefined();
  });
});
