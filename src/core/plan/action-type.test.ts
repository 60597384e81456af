import { expect, it } from 'vitest';
import { compiled, graph, node } from '../definition/definition.testing.ts';
import { actionTypeOf } from './action-type.ts';
import type { Step } from './plan.ts';

it.each<[string, Step]>([
  ['core.echo', { kind: 'action', actionType: 'core.echo' }],
  ['subworkflow:orders', { kind: 'subworkflow', workflowId: 'orders', version: null, waitForCompletion: true }],
  ['core.delay', { kind: 'sleep', durationMs: 1 }],
  ['wait_for_webhook', { kind: 'webhook', timeoutMs: null }],
])('the action type of a step is %s', (name, step) => {
  expect(actionTypeOf(step)).toBe(name);
});

it('a loop is named after its step, and a loop with a body after its kind', () => {
  const forEach = { items: [1] };
  const body = { startNode: 'x', nodes: [node('x')] };
  const typeOf = (fields: object) => actionTypeOf(compiled(graph([{ id: 'a', ...fields }])).nodes[0]!.step);
  expect(typeOf({ actionType: 'core.echo', forEach })).toBe('core.echo');
  expect(typeOf({ forEach, body })).toBe('forEach');
  expect(typeOf({ repeat: { until: 'true' }, body })).toBe('repeat');
  expect(typeOf({ nodeType: 'wait', timeoutMs: 5 })).toBe('wait');
  expect(typeOf({ nodeType: 'end' })).toBe('end');
});
