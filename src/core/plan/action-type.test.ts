import { expect, it } from 'vitest';
import { actionTypeOf } from './action-type.ts';
import type { Step } from './plan.ts';

it.each<[string, Step]>([
  ['core.echo', { kind: 'action', actionType: 'core.echo' }],
  ['subworkflow:orders', { kind: 'subworkflow', workflowId: 'orders', version: null, waitForCompletion: true }],
  ['core.delay', { kind: 'sleep', durationMs: 1 }],
  ['wait_for_webhook', { kind: 'webhook', timeoutMs: null }],
])('a step is called %s', (name, step) => {
  expect(actionTypeOf(step)).toBe(name);
});
