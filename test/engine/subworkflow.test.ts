import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { TerminalError } from '../../src/main.ts';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { echo, graph, held, subworkflow, to, tries } from './workflow-definition.ts';

const unreadable = new Set<string>();
const engine = engineUnderTest({ unreadable, engine: { maxNestingDepth: 2 } });
const { work } = engine;

const childrenOf = (executionId: string) => engine.pawl.store.executionChildren({ executionId });

describe('a subworkflow', () => {
  it('a subworkflow is an execution of its own, and its node returns outputs, id and status', async () => {
    await engine.pawl.publish(graph('double', [echo('calc', { twice: '{{ trigger.n * 2 }}' })]));
    const result = await engine.run(
      graph('asks', [
        subworkflow('sub', 'double', { parameters: { n: '{{ trigger.n }}' }, ...to('show') }),
        echo('show', { value: '{{ context.data.sub.outputs.twice }}', how: '{{ context.data.sub.status }}' }),
      ]),
      { trigger: { n: 21 } },
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { value: 42, how: 'Succeeded' } });
    const [child] = await childrenOf(result.executionId);
    const attempts = await engine.attempts(result.executionId);
    expect(attempts.find(({ nodeId }) => nodeId === 'sub')).toMatchObject({
      status: 'Succeeded',
      parameters: { n: 21 },
      outputs: { executionId: child!.executionId, status: 'Succeeded', outputs: { twice: 42 } },
    });
  });

  it('a subworkflow inherits tenant, correlation, principal and priority, and appears in the hierarchy', async () => {
    const tenantId = 'acme';
    const principal = { userId: 'u7', displayName: 'Grace', email: null };
    await engine.pawl.publish(graph('inner', [echo('a')]), { tenantId });
    await engine.pawl.publish(graph('middle', [subworkflow('in', 'inner')]), { tenantId });
    const root = await engine.run(graph('outer', [subworkflow('mid', 'middle')]), {
      tenantId,
      principal,
      correlationId: 'corr-7',
      priority: 8,
    });
    expect(root.status).toBe('Succeeded');
    const tree = await engine.pawl.store.executionTree({ tenantId, executionId: root.executionId, limit: 10 });
    expect(tree.map(({ workflowId, parentNode, status }) => [workflowId, parentNode, status])).toEqual([
      ['outer', null, 'Succeeded'],
      ['middle', 'mid', 'Succeeded'],
      ['inner', 'in', 'Succeeded'],
    ]);
    const inner = await engine.pawl.executions.get(tenantId, tree[2]!.executionId);
    expect(inner).toMatchObject({
      tenantId,
      correlationId: 'corr-7',
      priority: 8,
      depth: 2,
      parentId: tree[1]!.executionId,
    });
    expect(JSON.parse(inner.principal)).toEqual(principal);
    const rows = await engine.sql(
      'select parent_execution_id, child_execution_id, parent_node_id from workflow_execution_hierarchy where parent_execution_id = $1',
      [root.executionId],
    );
    expect(rows).toEqual([
      { parent_execution_id: root.executionId, child_execution_id: tree[1]!.executionId, parent_node_id: 'mid' },
    ]);
  });

  it('a subworkflow is not started with a payload that its triggerSchema refuses', async () => {
    const triggerSchema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
    await engine.pawl.publish(graph('picky', [echo('a', { n: '{{ trigger.n }}' })], { triggerSchema }));
    const asks = (n: string) => subworkflow('sub', 'picky', { parameters: { n }, onFailure: 'told' });
    const definition = graph('offers', [
      asks('{{ trigger.n }}'),
      echo('told', { error: '{{ context.data.sub.error }}' }),
    ]);
    expect(await engine.run(definition, { trigger: { n: 1 } })).toMatchObject({ outputs: { outputs: { n: 1 } } });
    const refused = await engine.run(definition, { trigger: { n: 'one' } });
    expect(refused.outputs).toEqual({
      error: {
        code: 'TRIGGER_INVALID',
        message: 'subworkflow "picky": the trigger does not match the triggerSchema: /n must be integer',
      },
    });
    expect(await childrenOf(refused.executionId)).toEqual([]);
  });

  it('a subworkflow runs the version that its node names', async () => {
    await engine.pawl.publish(graph('versioned', [echo('a', { version: 'one' })]));
    await engine.pawl.publish(graph('versioned', [echo('a', { version: 'two' })]));
    const result = await engine.run(
      graph(
        'picks',
        [subworkflow('old', 'versioned', { workflowVersion: 1, ...to('new') }), subworkflow('new', 'versioned')],
        {
          outputs: { old: '{{ context.data.old.outputs.version }}', new: '{{ context.data.new.outputs.version }}' },
        },
      ),
    );
    expect(result.outputs).toEqual({ old: 'one', new: 'two' });
  });

  it('a subworkflow that nobody waits for lets its node succeed at once, and runs on', async () => {
    await engine.pawl.publish(graph('background', [held('slow')]));
    const result = await engine.run(graph('fires', [subworkflow('bg', 'background', { waitForCompletion: false })]));
    const outputs = result.outputs as JsonObject;
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { status: 'Pending' } });
    (await work.next('slow')).succeed({ later: true });
    expect(await engine.pawl.result(String(outputs.executionId))).toMatchObject({
      status: 'Succeeded',
      outputs: { later: true },
    });
  });

  it('sixty parents that start the same subworkflow at once each get their own result', async () => {
    await engine.pawl.publish(graph('square', [echo('calc', { n: '{{ trigger.n }}' })]));
    await engine.pawl.publish(
      graph('parents', [subworkflow('sub', 'square', { parameters: { n: '{{ trigger.n }}' } })], {
        outputs: { n: '{{ context.data.sub.outputs.n }}' },
      }),
    );
    const started = await Promise.all(
      Array.from({ length: 60 }, (_, n) => engine.pawl.start('parents', { trigger: { n } })),
    );
    const results = await Promise.all(started.map(({ executionId }) => engine.pawl.result(executionId)));
    expect(results.map(({ outputs }) => outputs)).toEqual(Array.from({ length: 60 }, (_, n) => ({ n })));
  });
});

describe('a subworkflow that does not succeed', () => {
  it('fails its node', async () => {
    await engine.pawl.publish(graph('doomed', [held('step', tries(1))]));
    const executionId = await engine.start(graph('hopes', [subworkflow('sub', 'doomed', tries(1))]));
    (await work.next()).fail(new TerminalError('NO', 'not today'));
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'CHILD_FAILED', nodeId: 'sub', message: expect.stringContaining('NO: not today') },
    });
  });

  it('a cancelled subworkflow can be handled, and the error says that it was cancelled', async () => {
    await engine.pawl.publish(graph('stopped', [held('step')]));
    const executionId = await engine.start(
      graph('handles', [
        subworkflow('sub', 'stopped', { ...tries(1), onFailure: 'report' }),
        echo('report', { why: '{{ context.data.sub.error.message }}' }),
      ]),
    );
    const attempt = await work.next();
    attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));
    const [child] = await childrenOf(executionId);
    await engine.pawl.executions.cancel(TENANT, child!.executionId, 'by hand');
    const result = await engine.pawl.result(executionId);
    expect(result).toMatchObject({ status: 'Succeeded' });
    expect((result.outputs as JsonObject).why).toContain('ended as Cancelled');
  });

  it('a retry of the node starts a new subworkflow', async () => {
    await engine.pawl.publish(graph('second-time', [held('step', tries(1))]));
    const executionId = await engine.start(graph('tries-again', [subworkflow('sub', 'second-time', tries(2))]));
    (await work.next()).fail(new TerminalError('NO', 'first'));
    (await work.next()).succeed({ ok: true });
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Succeeded',
      outputs: { outputs: { ok: true } },
    });
    expect((await childrenOf(executionId)).map(({ status }) => status)).toEqual(['Failed', 'Succeeded']);
  });

  it('a subworkflow whose plan cannot be loaded fails its node in the parent', async () => {
    await engine.pawl.publish(graph('rotten', [echo('a')]));
    await engine.sql(`update workflow_definitions set definition = '{"nodes":"gone"}' where workflow_id = 'rotten'`);
    const result = await engine.run(graph('trusts', [subworkflow('sub', 'rotten', tries(1))]));
    const [child] = await childrenOf(result.executionId);
    unreadable.add(child!.executionId);
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'CHILD_FAILED', nodeId: 'sub' } });
    expect(child).toMatchObject({ status: 'Failed' });
    const letters = await engine.pawl.store.deadLetterList({ tenantId: TENANT, afterId: '0', limit: 10 });
    expect(letters).toMatchObject([{ executionId: child!.executionId, reason: 'PLAN_INVALID' }]);
  });
});

describe('a subworkflow that may not be started', () => {
  it('a subworkflow that is already running above itself is refused', async () => {
    await engine.pawl.publish(graph('ping', [echo('a')]));
    await engine.pawl.publish(graph('pong', [subworkflow('back', 'ping', tries(1))]));
    const result = await engine.run(graph('ping', [subworkflow('there', 'pong', tries(1))]));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'CHILD_FAILED' } });
    expect(result.error!.message).toContain('"ping" is already running above: ping → pong → ping');
  });

  it('a subworkflow one level too deep is refused', async () => {
    await engine.pawl.publish(graph('level-3', [echo('a')]));
    await engine.pawl.publish(graph('level-2', [subworkflow('down', 'level-3', tries(1))]));
    await engine.pawl.publish(graph('level-1', [subworkflow('down', 'level-2', tries(1))]));
    const result = await engine.run(graph('level-0', [subworkflow('down', 'level-1', tries(1))]));
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'CHILD_FAILED' } });
    expect(result.error!.message).toContain('NESTING_TOO_DEEP');
  });

  it('a subworkflow that is unknown, archived or disabled is refused', async () => {
    const caller = (id: string, target: string) =>
      graph(id, [
        subworkflow('sub', target, { ...tries(1), onFailure: 'report' }),
        echo('report', { code: '{{ context.data.sub.error.code }}' }),
      ]);
    await engine.pawl.publish(graph('archived', [echo('a')]));
    await engine.pawl.store.workflowArchive({ tenantId: TENANT, workflowId: 'archived' });
    await engine.pawl.publish(graph('disabled', [echo('a')]));
    await engine.pawl.store.workflowEnable({ tenantId: TENANT, workflowId: 'disabled', isEnabled: false });
    expect((await engine.run(caller('calls-nobody', 'nobody'))).outputs).toEqual({ code: 'WORKFLOW_NOT_FOUND' });
    expect((await engine.run(caller('calls-archived', 'archived'))).outputs).toEqual({ code: 'WORKFLOW_NOT_ACTIVE' });
    expect((await engine.run(caller('calls-disabled', 'disabled'))).outputs).toEqual({ code: 'WORKFLOW_DISABLED' });
  });
});

describe('a cancelled parent', () => {
  it('a cancelled parent cancels its children and their children', async () => {
    await engine.pawl.publish(graph('leaf', [held('step')]));
    await engine.pawl.publish(graph('branch', [subworkflow('down', 'leaf')]));
    const executionId = await engine.start(graph('trunk', [subworkflow('down', 'branch')]));
    const attempt = await work.next();
    attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));
    await engine.pawl.executions.cancel(TENANT, executionId, 'enough');
    expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
    const tree = await engine.pawl.store.executionTree({ tenantId: TENANT, executionId, limit: 10 });
    for (const { executionId: id } of tree) {
      expect((await engine.pawl.result(id)).status).toBe('Cancelled');
    }
    expect(tree).toHaveLength(3);
  });
});
