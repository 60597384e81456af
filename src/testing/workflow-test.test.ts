import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ActionContext, defineAction } from '../action/action.ts';
import { testWorkflow } from '../app/workflow-test.ts';
import { RetryableError } from '../core/error/error.ts';
import type { Json } from '../core/json/json.ts';
import { mismatches } from './test-file.ts';

const node = (id: string, more: object = {}) => ({ id, actionType: 'http.request', ...more });
const graph = (...nodes: { id: string }[]) => ({ id: 'g', displayName: 'G', startNode: nodes[0]!.id, nodes });

describe('testWorkflow', () => {
  it('testWorkflow renders parameters, routes by pinned outputs, and says why a node was skipped', async () => {
    const definition = graph(
      node('fetch', {
        parameters: { url: 'https://api.example/{{ trigger.id }}' },
        edges: [
          { targetNode: 'yes', condition: 'context.data.fetch.body.ok' },
          { targetNode: 'no', condition: '!context.data.fetch.body.ok' },
        ],
      }),
      { id: 'yes', actionType: 'core.echo', parameters: { said: '{{ context.data.fetch.body.word }}' } } as {
        id: string;
      },
      node('no'),
    );
    const found = await testWorkflow(definition, {
      trigger: { id: 7 },
      nodes: { fetch: { outputs: { body: { ok: true, word: 'hi' } } } },
    });
    expect(found).toMatchObject({
      status: 'Succeeded',
      outputs: { said: 'hi' },
      nodes: {
        fetch: { status: 'Succeeded', attempts: 1, parameters: { url: 'https://api.example/7' } },
        yes: { status: 'Succeeded', outputs: { said: 'hi' } },
        no: { status: 'Skipped', attempts: 0 },
      },
    });
    expect(found.nodes.no!.reason).toBe('no satisfied edge');
  });

  it('testWorkflow retries by the policy, on a clock of its own', async () => {
    const policies = { retry: { maxAttempts: 3, baseDelayMs: '10m', backoffFactor: 1, jitter: false } };
    const calls: Json[] = [];
    const found = await testWorkflow(graph(node('call', { policies, parameters: { url: 'https://a.example' } })), {
      nodes: {
        call(parameters, { attempt }) {
          calls.push(parameters);
          if (attempt < 3) throw new RetryableError('BUSY', 'not now');
          return { done: true };
        },
      },
    });
    expect(found).toMatchObject({ status: 'Succeeded', outputs: { done: true }, elapsedMs: 2 * 600_000 });
    expect(found.nodes.call!.attempts).toBe(3);
    expect(calls).toEqual(Array(3).fill({ url: 'https://a.example' }));
  });

  it('testWorkflow ends a node at the last answer of its list', async () => {
    const error = { code: 'BUSY' };
    const found = await testWorkflow(graph(node('call', { parameters: { url: 'https://a.example' } })), {
      stubs: { 'http.request': [{ error }, { error, retryable: false }] },
    });
    expect(found).toMatchObject({
      status: 'Failed',
      error: { nodeId: 'call' },
      nodes: { call: { status: 'Failed', attempts: 2, error: { code: 'BUSY' } } },
    });
  });

  it('testWorkflow pins the items of a loop together and one by one', async () => {
    const ship = {
      id: 'ship',
      actionType: 'http.request',
      forEach: { items: '{{ trigger.lines }}', tolerate: 1 },
      parameters: { url: 'https://a.example/{{ item }}' },
    };
    const found = await testWorkflow(graph(ship), {
      trigger: { lines: ['a', 'b', 'c'] },
      nodes: { ship: { outputs: { ok: true } }, 'ship[1]': { error: { code: 'SOLD_OUT' }, retryable: false } },
    });
    expect(found.status).toBe('Succeeded');
    expect(found.nodes['ship[1]']).toMatchObject({ status: 'Failed', error: { code: 'SOLD_OUT' } });
    expect(found.nodes['ship[2]']).toMatchObject({ status: 'Succeeded', parameters: { url: 'https://a.example/c' } });
  });

  it('testWorkflow answers a wait, a subworkflow and an event by their pins', async () => {
    const definition = graph(
      { id: 'ask', nodeType: 'wait', callback: true, edges: [{ targetNode: 'paid' }] } as { id: string },
      {
        id: 'paid',
        nodeType: 'wait',
        events: [{ type: 'order.paid', key: '7', at: 'id' }],
        edges: [{ targetNode: 'child' }],
      } as { id: string },
      {
        id: 'child',
        nodeType: 'subworkflow',
        workflowId: 'other',
        parameters: { by: '{{ context.data.ask.data.by }}' },
      } as { id: string },
    );
    const found = await testWorkflow(definition, {
      nodes: { ask: { outputs: { by: 'Ada' } }, paid: { outputs: { id: '7' } } },
      stubs: { other: (trigger) => ({ heard: trigger }) },
    });
    expect(found).toMatchObject({
      status: 'Succeeded',
      nodes: { paid: { status: 'Succeeded' }, child: { parameters: { by: 'Ada' } } },
    });
    expect(found.nodes.child!.outputs).toMatchObject({ status: 'Succeeded', outputs: { heard: { by: 'Ada' } } });
  });

  it('testWorkflow times out a wait without a pin', async () => {
    const ask = { id: 'ask', nodeType: 'wait', callback: true, timeoutMs: '5m' };
    const found = await testWorkflow(graph(ask));
    expect(found).toMatchObject({ status: 'Failed', elapsedMs: 300_000, nodes: { ask: { status: 'TimedOut' } } });
  });

  it('testWorkflow runs your own actions, and blocks their requests', async () => {
    const action = (
      type: string,
      run: (
        params: Record<string, unknown>,
        context: ActionContext,
      ) => { outputs: Record<string, unknown> } | Promise<{ outputs: Record<string, unknown> }>,
    ) =>
      defineAction({
        type,
        version: '1.0.0',
        connector: 'own',
        category: 'Test',
        params: z.looseObject({}),
        outputs: z.looseObject({}),
        run,
      });
    const actions = [
      action('own.double', (params) => ({ outputs: { twice: 2 * Number(params.n) } })),
      action('own.call', async (_, { http }) => ({
        outputs: { answer: await http.request({ url: 'https://a.example' }) },
      })),
    ];
    const double = { id: 'double', actionType: 'own.double', parameters: { n: 21 } };
    expect(await testWorkflow(graph(double), { actions })).toMatchObject({ outputs: { twice: 42 } });
    const called = await testWorkflow(graph({ id: 'call', actionType: 'own.call' } as { id: string }), { actions });
    expect(called.nodes.call!.error).toEqual({
      code: 'NOT_IN_A_TEST',
      message: expect.stringContaining('pin the outputs of "call"'),
    });
  });

  it('testWorkflow refuses a missing pin, a pin of no node, a wrong trigger and a wrong definition', async () => {
    await expect(testWorkflow(graph(node('call')))).rejects.toThrow('node "call" calls http.request');
    await expect(testWorkflow(graph(node('call')), { nodes: { cal: { outputs: {} } } })).rejects.toThrow(
      'there is no node "cal" to pin: the nodes are call',
    );
    const schema = { triggerSchema: { type: 'object', required: ['id'] } };
    await expect(testWorkflow({ ...graph(node('call')), ...schema })).rejects.toThrow('triggerSchema');
    await expect(testWorkflow({ nodes: [] })).rejects.toThrow('the definition is not valid');
  });
});

describe('an expectation', () => {
  const found = {
    status: 'Failed',
    elapsedMs: 0,
    error: { code: 'X', message: 'm' },
    nodes: { a: { status: 'Skipped', attempts: 0, reason: 'why' } },
  } as const;

  it('a test expects success by default', () => {
    expect(mismatches(found, {})).toEqual(['status: expected "Succeeded", got "Failed"']);
    expect(mismatches(found, { status: 'Failed', error: { code: 'X' } })).toEqual([]);
  });

  it('a failed expectation names every difference with its path, and the reason of the node', () => {
    expect(
      mismatches(found, { status: 'Failed', nodes: { a: { status: 'Succeeded', outputs: { x: 1 } }, b: 'Failed' } }),
    ).toEqual([
      'nodes.a.status: expected "Succeeded", got "Skipped" (why)',
      'nodes.a.outputs: expected {"x":1}, got nothing (why)',
      'nodes.b: there is no such node: a',
    ]);
  });
});

it('docs/testing.md names every field of a test file', () => {
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
  for (const field of ['workflow', 'actions', 'trigger', 'spec', 'principal', 'nodes', 'stubs', 'expect'])
    expect(page).toContain(`\`${field}\``);
});
