// The builders: they build the same JSON that one would write by hand, and TypeScript knows what can be referred to.

import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { compileDefinition } from '../../src/core/definition/compile.ts';
import type { Json } from '../../src/core/json/json.ts';
import { expr, pipeline, type Ref, shape, workflow } from '../../src/sdk/client.ts';

const example = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../examples/pipeline/${file}.json`, import.meta.url), 'utf8'));

const order = () =>
  workflow({ id: 'order', displayName: 'Order' })
    .trigger<{ id: number; customer: { email: string; tags: string[] } }>()
    .node('charge-card', {
      action: 'http.request',
      outputs: shape<{ amount: number; approved: boolean }>(),
      parameters: ({ trigger }) => ({ url: 'https://shop.example/charge', body: { id: trigger.id, on: true } }),
      policies: { timeoutMs: 5_000, retry: { maxAttempts: 2 } },
    });

describe('workflow()', () => {
  const built = order()
    .node('receipt', {
      action: 'email.send',
      after: {
        node: 'charge-card',
        condition: ({ data }) => expr`${data['charge-card'].approved} && ${data['charge-card'].amount} > ${10}`,
      },
      parameters: ({ trigger, data }) => ({
        to: trigger.customer.email,
        subject: `Order ${trigger.id}: ${data['charge-card'].amount}`,
        tag: trigger.customer.tags[0]!,
      }),
    })
    .node('alert', {
      action: 'core.echo',
      after: { node: 'charge-card', when: 'failure' },
      parameters: { level: 'high' },
    })
    .node('done', { action: 'core.echo', after: ['receipt', 'alert'] })
    .outputs(({ data }) => ({ amount: data['charge-card'].amount }))
    .build();

  it('workflow() builds the definition that one would write by hand', () => {
    expect(built).toEqual({
      id: 'order',
      displayName: 'Order',
      startNode: 'charge-card',
      outputs: { amount: '{{ context.data["charge-card"].amount }}' },
      nodes: [
        {
          id: 'charge-card',
          actionType: 'http.request',
          parameters: { url: 'https://shop.example/charge', body: { id: '{{ trigger.id }}', on: true } },
          policies: { timeoutMs: 5_000, retry: { maxAttempts: 2 } },
          edges: [
            {
              targetNode: 'receipt',
              condition: 'context.data["charge-card"].approved && context.data["charge-card"].amount > 10',
            },
            { targetNode: 'alert', when: 'failure' },
          ],
        },
        {
          id: 'receipt',
          actionType: 'email.send',
          parameters: {
            to: '{{ trigger.customer.email }}',
            subject: 'Order {{ trigger.id }}: {{ context.data["charge-card"].amount }}',
            tag: '{{ trigger.customer.tags[0] }}',
          },
          edges: [{ targetNode: 'done' }],
        },
        { id: 'alert', actionType: 'core.echo', parameters: { level: 'high' }, edges: [{ targetNode: 'done' }] },
        { id: 'done', actionType: 'core.echo' },
      ],
    });
    expect(compileDefinition(built as unknown as Json)).toMatchObject({ ok: true });
  });

  it('workflow() knows the types that a node can refer to', () => {
    order().node('next', {
      action: 'core.echo',
      after: 'charge-card',
      parameters: ({ trigger, data }) => {
        expectTypeOf(trigger.customer.email).toEqualTypeOf<Ref<string>>();
        expectTypeOf(data['charge-card'].amount).toEqualTypeOf<Ref<number>>();
        expectTypeOf(data).not.toHaveProperty('next');
        expectTypeOf(trigger.customer).not.toHaveProperty('emial');
        return {};
      },
    });
    const { node } = order();
    type After = Exclude<NonNullable<Parameters<typeof node>[1]['after']>, readonly unknown[] | object>;
    expectTypeOf<After>().toEqualTypeOf<'charge-card'>();
  });

  it('workflow() does not change the builder that it extends', () => {
    const base = order();
    base.node('more', { action: 'core.echo', after: 'charge-card' });
    expect(base.build().nodes).toEqual([expect.not.objectContaining({ edges: expect.anything() })]);
  });

  it('workflow() refuses a node that nothing leads to, and a workflow without nodes', () => {
    expect(() => order().node('lost', { action: 'core.echo' })).toThrow('"lost" would never run');
    expect(() => workflow({ id: 'empty', displayName: 'Empty' }).build()).toThrow('has no nodes');
  });

  it('workflow() adds a subworkflow, and later nodes read its outputs', () => {
    const { nodes } = order()
      .subworkflow('child', {
        workflowId: 'ship',
        after: 'charge-card',
        outputs: shape<{ label: string }>(),
        parameters: ({ data }) => ({ amount: data['charge-card'].amount }),
      })
      .node('print', {
        action: 'core.echo',
        after: 'child',
        parameters: ({ data }) => ({ label: data.child.outputs.label }),
      })
      .build();
    expect(nodes[1]).toMatchObject({ id: 'child', nodeType: 'subworkflow', workflowId: 'ship' });
    expect(nodes[2]).toMatchObject({ parameters: { label: '{{ context.data.child.outputs.label }}' } });
  });
});

describe('pipeline()', () => {
  it('pipeline() builds the checkout pipeline', () => {
    const app = 'https://myapp.com/api';
    const built = pipeline({ name: 'checkout-flow', trigger: 'api', waits: ['payment-result'] })
      .trigger<{ amount: number; order_id: string }>()
      .http('create-checkout', ({ trigger, wait }) => ({
        url: `${app}/create-checkout`,
        method: 'POST',
        body: { amount: trigger.body.amount, callback_url: wait['payment-result'].url },
      }))
      .waitForWebhook('payment-result', {
        needs: ['create-checkout'],
        timeout: '1h',
        brings: shape<{ status: string; payment_id: string }>(),
      })
      .http(
        'fulfill-order',
        ({ trigger, tasks }) => ({
          url: `${app}/fulfill`,
          method: 'POST',
          body: { order_id: trigger.body.order_id, payment_id: tasks['payment-result'].body.payment_id },
        }),
        { needs: ['payment-result'], if: ({ tasks }) => expr`${tasks['payment-result'].body.status} == ${'paid'}` },
      )
      .http(
        'handle-timeout',
        { url: `${app}/checkout-expired`, method: 'POST' },
        {
          needs: ['payment-result'],
          if: ({ tasks }) => expr`${tasks['payment-result'].status} == ${'timeout'}`,
        },
      )
      .build();
    expect(alike(built)).toEqual(alike(example('checkout-flow')));
    expect(compileDefinition(built as unknown as Json)).toMatchObject({ ok: true });
  });

  it('pipeline() builds a pipeline with sleeps', () => {
    const built = pipeline({ name: 'nap' })
      .sleep('nap', '13d')
      .sleep('again', 5, { needs: ['nap'] })
      .build();
    expect(built).toEqual({ name: 'nap', tasks: { nap: { sleep: '13d' }, again: { needs: ['nap'], sleep: 5 } } });
  });

  it('pipeline() knows the types of tasks and waits', () => {
    pipeline({ name: 'p', waits: ['paid'] })
      .http('a', { url: 'https://a.example' }, { answers: shape<{ id: string }>() })
      .http('b', ({ tasks, wait }) => {
        expectTypeOf(tasks.a.body.id).toEqualTypeOf<Ref<string>>();
        expectTypeOf(tasks).not.toHaveProperty('b');
        expectTypeOf(wait).not.toHaveProperty('unpaid');
        return { url: 'https://b.example' };
      });
  });
});

/** Removes differences without a meaning: spaces inside braces, and the kind of quotes. */
const alike = (definition: unknown): unknown =>
  JSON.parse(JSON.stringify(definition), (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(/(?<=\{\{)\s+|\s+(?=\}\})/g, '').replaceAll('"', "'") : value,
  );
