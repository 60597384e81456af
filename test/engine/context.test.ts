import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { echo, graph, to } from './workflow-definition.ts';

const engine = engineUnderTest();

const chain = (id: string, snapshot: JsonObject) =>
  graph(id, [echo('a', { text: 'first' }, to('b')), echo('b', { text: 'second' }, to('c')), echo('c', { n: 3 })], {
    snapshot,
  });

async function snapshotOf(executionId: string): Promise<unknown> {
  return JSON.parse((await engine.pawl.executions.get(TENANT, executionId)).contextSnapshot!);
}

describe('the context snapshot', () => {
  it('the Full snapshot holds all outputs', async () => {
    const { executionId } = await engine.run(chain('full', { mode: 'Full' }));
    expect(await snapshotOf(executionId)).toEqual({ a: { text: 'first' }, b: { text: 'second' }, c: { n: 3 } });
  });

  it('the KeysOnly snapshot holds the outputs of the named nodes', async () => {
    const { executionId } = await engine.run(chain('keys', { mode: 'KeysOnly', keysToInclude: ['b'] }));
    expect(await snapshotOf(executionId)).toEqual({ b: { text: 'second' } });
  });

  it('the SummaryOnly snapshot, the default, holds status, size and type of each output, not the data', async () => {
    const { executionId } = await engine.run(chain('summary', {}));
    expect(await snapshotOf(executionId)).toEqual({
      a: { status: 'Succeeded', bytes: 16, type: 'object' },
      b: { status: 'Succeeded', bytes: 17, type: 'object' },
      c: { status: 'Succeeded', bytes: 7, type: 'object' },
    });
  });
});

describe('outputs that do not fit into the context', () => {
  const big = { text: 'x'.repeat(100) };
  const overflowing = (id: string, overflowBehavior: string) =>
    graph(
      id,
      [
        echo('first', big, to('second')),
        echo('second', big, to('third')),
        echo('third', {
          first: "{{ context.data.first?.text?.length ?? 'gone' }}",
          second: "{{ context.data.second?.text?.length ?? 'gone' }}",
        }),
      ],
      { snapshot: { mode: 'Full', maxContextSizeBytes: 150, overflowBehavior } },
    );

  it('Fail fails the node whose output does not fit into the context', async () => {
    const result = await engine.run(overflowing('overflow-fail', 'Fail'));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'CONTEXT_OVERFLOW', nodeId: 'second' } });
    expect(result.error!.message).toContain('maxContextSizeBytes');
  });

  it('AutoPruneOldest makes room', async () => {
    const result = await engine.run(overflowing('overflow-prune', 'AutoPruneOldest'));
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { first: 'gone', second: 100 } });
    const [first] = await engine.attempts(result.executionId);
    expect(first!.outputs).toEqual(big);
  });

  it('DropOversize leaves the output out of the context and keeps its status, size and type', async () => {
    const result = await engine.run(overflowing('overflow-drop', 'DropOversize'));
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { first: 100, second: 'gone' } });
    const bytes = JSON.stringify(big).length;
    expect(await snapshotOf(result.executionId)).toMatchObject({
      second: { status: 'Succeeded', bytes, type: 'object' },
    });
    const attempts = await engine.attempts(result.executionId);
    expect(attempts[1]).toMatchObject({ nodeId: 'second', status: 'Succeeded', outputs: big });
  });
});

describe('what expressions see', () => {
  it('expressions see trigger, vars, spec, execution and principal', async () => {
    const result = await engine.run(
      graph(
        'scope',
        [
          echo('show', {
            trigger: '{{ trigger.a }}',
            vars: '{{ vars.region }}',
            spec: '{{ spec.size }}',
            specInTrigger: '{{ trigger.spec.size }}',
            workflow: '{{ execution.workflowId }}',
            tenant: '{{ execution.tenantId }}',
            correlation: '{{ execution.correlationId }}',
            who: '{{ principal.displayName }}',
          }),
        ],
        { vars: { region: 'eu' } },
      ),
      {
        trigger: { a: 1 },
        spec: { size: 'L' },
        correlationId: 'c1',
        principal: { userId: 'u', displayName: 'Ada', email: null },
      },
    );
    expect(result.outputs).toEqual({
      trigger: 1,
      vars: 'eu',
      spec: 'L',
      specInTrigger: 'L',
      workflow: 'scope',
      tenant: TENANT,
      correlation: 'c1',
      who: 'Ada',
    });
  });
});
