// Definitions that use none of the later features compile to the same plan as before those features, byte for byte. Their
// versions stay the same and they cost the same. The expected values were recorded before the features existed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call, compiled, graph, node, pipeline, plan, step, to } from '../definition/definition.testing.ts';
import { sha256Hex } from './checksum.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

const EXAMPLE_FILES = [
  'graph/branching.json',
  'graph/fan-out-fan-in.json',
  'graph/linear.json',
  'graph/retry.json',
  'graph/slack-intake.json',
  'graph/subworkflow.json',
  'graph/template-document.json',
  'pipeline/checkout-flow.json',
  'pipeline/order-processing.json',
  'pipeline/order-receipt.json',
  'pipeline/trial-expiry.json',
];

const WRITTEN: Readonly<Record<string, object>> = {
  'a graph with every old field': graph(
    [
      node('a', {
        edges: [
          { targetNode: 'b', condition: 'trigger.x > 1' },
          { targetNode: 'c', when: 'failure' },
        ],
        onFailure: 'd',
        routePolicy: 'firstMatch',
        policies: { timeoutMs: 1000, rerenderOnRetry: true, retry: { maxAttempts: 4, jitter: false } },
        parameters: { x: '{{ trigger.x }}', y: ['{{ vars.y }}', 'a {{ trigger.z }} b'] },
      }),
      node('b', { nodeType: 'subworkflow', actionType: undefined, workflowId: 'w', workflowVersion: 2, ...to('d') }),
      node('c', { actionType: 'core.delay', parameters: { durationMs: '{{ trigger.ms }}' } }),
      node('d', { parameters: { e: "{{ context.data['a']?.x ?? 1 }}" } }),
    ],
    { vars: { y: 1 }, outputs: { all: '{{ context.data.d }}' }, timeoutMs: 5, snapshot: { mode: 'Full' } },
  ),
  'a pipeline with every old field': pipeline(
    {
      one: call({ method: 'GET', headers: { a: '{{trigger.body.a}}' }, retries: 2, timeout: 10 }),
      two: { needs: ['one'], sleep: '5m' },
      three: { needs: ['two'], if: 'tasks.one.status_code == 200', wait_for_webhook: { timeout: '1h' } },
      four: call({ needs: ['three'], body: { x: '{{wait.three.url}}', y: '{{tasks.one.body.id}}' } }),
    },
    { max_duration_seconds: 9 },
  ),
  'an execution plan': plan([
    step('a'),
    step('b', { dependsOn: ['a'], when: { expression: 'on', on: 'a.output.x' }, dispatch: { taskQueue: 'q' } }),
  ]),
};

it.each(EXAMPLE_FILES)('%s compiles to the same plan as before', (file) => {
  expect(printOf(JSON.parse(readFileSync(join(EXAMPLES, file), 'utf8')))).toMatchSnapshot();
});

it.each(Object.keys(WRITTEN))('%s compiles to the same plan as before', (name) => {
  expect(printOf(WRITTEN[name]!)).toMatchSnapshot();
});

/** `undefined` in a helper's fields is not part of a definition. */
function printOf(definition: object): { checksum: string; plan: string } {
  const made = compiled(JSON.parse(JSON.stringify(definition)));
  return { checksum: made.checksum, plan: sha256Hex(JSON.stringify(made)) };
}
