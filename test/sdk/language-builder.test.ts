// The builders with loops, waits, joins, ends, undo and finally: the types of `item`, `previous` and `output`, and definitions that compile.

import { describe, expect, expectTypeOf, it } from 'vitest';
import { compileDefinition } from '../../src/core/definition/compile.ts';
import type { Json } from '../../src/core/json/json.ts';
import { expr, pipeline, type Ref, shape, value, workflow } from '../../src/sdk/client.ts';

interface Order {
  id: string;
  lines: { sku: string; count: number }[];
}

function compiles(definition: object): void {
  expect(compileDefinition(definition as unknown as Json)).toMatchObject({ ok: true, warnings: [] });
}

const start = () =>
  workflow({ id: 'order', displayName: 'Order', waits: ['decision'] })
    .trigger<Order>()
    .node('reserve', { action: 'core.echo', outputs: shape<{ lock: string }>() });

describe('workflow()', () => {
  it('workflow() runs an action for each item, and knows the type of the item', () => {
    const built = start()
      .forEach('ship', {
        after: 'reserve',
        items: ({ trigger }) => trigger.lines,
        parallel: 5,
        tolerate: '10%',
        action: 'http.request',
        outputs: shape<{ status: number }>(),
        parameters: ({ item, index, data }) => {
          expectTypeOf(item).toEqualTypeOf<Ref<{ sku: string; count: number }>>();
          expectTypeOf(index).toEqualTypeOf<Ref<number>>();
          return { url: `https://ship.example/${item.sku}`, body: { index, lock: data.reserve.lock } };
        },
      })
      .node('report', {
        action: 'core.echo',
        after: 'ship',
        parameters: ({ data }) => {
          expectTypeOf(data.ship.results[0]!.status).toEqualTypeOf<Ref<number>>();
          return { shipped: data.ship.succeeded, first: data.ship.errors[0]!.code };
        },
      })
      .build();
    expect(built.nodes[1]).toMatchObject({
      id: 'ship',
      actionType: 'http.request',
      forEach: { items: '{{ trigger.lines }}', parallel: 5, tolerate: '10%' },
      parameters: { url: 'https://ship.example/{{ item.sku }}', body: { index: '{{ index }}' } },
    });
    compiles(built);
  });

  it('workflow() runs a body for each item, whose nodes read the item, each other and earlier nodes', () => {
    const built = start()
      .forEach('lines', {
        after: 'reserve',
        items: ({ trigger }) => trigger.lines,
        body: (body) =>
          body
            .node('charge', {
              action: 'core.echo',
              outputs: shape<{ paid: number }>(),
              parameters: ({ item, data }) => ({ sku: item.sku, lock: data.reserve.lock }),
            })
            .node('pack', {
              action: 'core.echo',
              after: { node: 'charge', condition: ({ item }) => expr`${item.count} > ${0}` },
              parameters: ({ data, index }) => {
                expectTypeOf(data.charge.paid).toEqualTypeOf<Ref<number>>();
                return { paid: data.charge.paid, index };
              },
            })
            .outputs(({ data }) => ({ paid: data.charge.paid })),
      })
      .build();
    expect(built.nodes[1]).toMatchObject({
      body: { startNode: 'charge', nodes: [{ id: 'charge' }, { id: 'pack' }], outputs: {} },
    });
    compiles(built);
    expect(() =>
      start().forEach('none', { after: 'reserve', items: ({ trigger }) => trigger.lines, body: (body) => body }),
    ).toThrow('has no nodes');
  });

  it('workflow() builds repeats with typed `previous` and `output`, and a child for each item', () => {
    const built = start()
      .repeat('pages', {
        after: 'reserve',
        action: 'http.request',
        outputs: shape<{ body: { items: number[]; next: string | null } }>(),
        parameters: ({ previous, round }) => {
          expectTypeOf(previous.body.next).toEqualTypeOf<Ref<string | null>>();
          return { url: 'https://api.example', query: { after: value`${previous.body.next} ?? ${''}`, round } };
        },
        until: ({ output, round }) => expr`${output.body.next} === null || ${round} > ${90}`,
        collect: ({ output }) => output.body.items,
        maxRounds: 100,
        delayMs: 10,
      })
      .forEach('each', {
        after: 'pages',
        items: ({ data }) => {
          expectTypeOf(data.pages.collected).toEqualTypeOf<Ref<number[]>>();
          return data.pages.collected;
        },
        workflowId: 'child',
        parameters: ({ item }) => ({ number: item }),
      })
      .build();
    expect(built.nodes[1]).toMatchObject({
      parameters: { query: { after: '{{ previous?.body.next ?? "" }}', round: '{{ round }}' } },
      repeat: { until: 'output.body.next === null || round > 90', collect: '{{ output.body.items }}', maxRounds: 100 },
    });
    expect(built.nodes[2]).toMatchObject({
      nodeType: 'subworkflow',
      forEach: { items: '{{ context.data.pages.collected }}' },
    });
    compiles(built);
  });

  it('workflow() builds waits for the first of several things, early ends, undo and cleanup', () => {
    const built = start()
      .compensation('release', {
        of: 'reserve',
        action: 'core.echo',
        parameters: ({ data }) => ({ lock: data.reserve.lock }),
      })
      .node('ask', { action: 'core.echo', after: 'reserve', parameters: ({ wait }) => ({ url: wait.decision.url }) })
      .wait('decision', {
        after: 'ask',
        callback: true,
        events: ({ trigger }) => [{ type: 'order.approved', key: trigger.id, at: 'orderId' }],
        timeoutMs: 60_000,
        onTimeout: 'continue',
        brings: shape<{ by: string }>(),
      })
      .end('expired', {
        after: { node: 'decision', condition: ({ data }) => expr`${data.decision.by} === ${'timeout'}` },
        error: { code: 'EXPIRED' },
      })
      .node('a', { action: 'core.echo', after: 'decision', parameters: ({ data }) => ({ who: data.decision.data.by }) })
      .node('b', { action: 'core.echo', after: 'decision' })
      .node('fastest', { action: 'core.echo', after: ['a', 'b'], join: { first: 1, cancelRest: true } })
      .finally('log', {
        action: 'core.echo',
        parameters: ({ execution }) => ({ id: execution.id, at: execution.startedAt }),
      })
      .build();
    expect(built).toMatchObject({
      finally: ['log'],
      nodes: expect.arrayContaining([expect.objectContaining({ compensate: 'release' })]),
    });
    compiles(built);
  });
});

describe('pipeline()', () => {
  it('pipeline() loops over items and pages, with their types', () => {
    const built = pipeline({ name: 'lines' })
      .trigger<Order>()
      .forEach('ship', {
        items: ({ trigger }) => trigger.body.lines,
        parallel: 2,
        call: ({ item, index }) => {
          expectTypeOf(item.sku).toEqualTypeOf<Ref<string>>();
          return { url: `https://ship.example/${item.sku}`, body: { index } };
        },
      })
      .repeat('pages', {
        needs: ['ship'],
        answers: shape<{ items: number[]; next: string }>(),
        call: ({ previous }) => ({ url: `https://api.example/?after=${value`${previous.body.next} ?? ${''}`}` }),
        until: ({ output }) => {
          expectTypeOf(output.body.items).toEqualTypeOf<Ref<number[]>>();
          return expr`${output.body.next} == null`;
        },
        collect: ({ output }) => output.body.items,
        every: '1s',
      })
      .outputs(({ tasks }) => ({ shipped: tasks.ship.succeeded, all: tasks.pages.collected }))
      .build();
    expect(built.tasks.ship).toMatchObject({ for_each: '{{ trigger.body.lines }}', parallel: 2 });
    expect(built.tasks.pages).toMatchObject({ until: 'output.body.next == null', collect: '{{ output.body.items }}' });
    compiles(built);
  });

  it('pipeline() builds waits, races, ends, undo and cleanup', () => {
    const built = pipeline({ name: 'saga', waits: ['decision'] })
      .trigger<Order>()
      .http(
        'charge',
        { url: 'https://pay.example', retries: { times: 2, on: [503] } },
        {
          answers: shape<{ id: string }>(),
          undo: ({ own }) => ({ url: 'https://pay.example/refund', body: { id: own.body.id } }),
        },
      )
      .waitFor('decision', {
        needs: ['charge'],
        webhook: true,
        events: ({ trigger }) => [{ type: 'order.approved', key: trigger.body.id, at: 'id' }],
        timeout: '1d',
      })
      .http('a', { url: 'https://a.example' }, { needs: ['decision'] })
      .http('b', { url: 'https://b.example' }, { needs: ['decision'] })
      .http('won', { url: 'https://won.example' }, { needs: { first: 1, of: ['a', 'b'], cancel_rest: true } })
      .end('no', {
        needs: ['decision'],
        if: ({ tasks }) => expr`${tasks.decision.status} == ${'timeout'}`,
        error: { code: 'EXPIRED' },
      })
      .end('yes', { needs: ['won'] })
      .finally('unlock', ({ trigger }) => ({ url: 'https://lock.example', body: { id: trigger.body.id } }))
      .build();
    expect(built).toMatchObject({
      finally: ['unlock'],
      tasks: { charge: { undo: { body: { id: '{{ tasks.charge.body.id }}' } } }, yes: { end: true } },
    });
    compiles(built);
  });
});
