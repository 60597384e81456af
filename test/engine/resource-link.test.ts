import { describe, expect, it } from 'vitest';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { graph, held, to, tries } from './workflow-definition.ts';

const engine = engineUnderTest();
const { work } = engine;
const page = (resourceId: string) => ({ system: 'confluence', resourceType: 'page', resourceId });

describe('a resource created by an action', () => {
  it('a resource is linked to its execution when the attempt succeeds', async () => {
    const executionId = await engine.start(graph('writes', [held('write')]));
    (await work.next()).succeed({}, [{ ...page('p1'), url: 'https://wiki.example/p1' }]);
    await engine.pawl.result(executionId);
    expect(await engine.pawl.store.executionLinks({ executionId })).toEqual([
      { ...page('p1'), url: 'https://wiki.example/p1', nodeId: 'write' },
    ]);
  });

  it('a linked resource is found by later attempts, but not by other tenants', async () => {
    const executionId = await engine.start(graph('finds', [held('write', to('look')), held('look')]));
    const write = await work.next('write');
    expect(await write.context.findResource(page('p2'))).toBeNull();
    write.succeed({}, [page('p2')]);
    const look = await work.next('look');
    expect(await look.context.findResource(page('p2'))).toEqual({ executionId, nodeId: 'write', url: null });
    look.succeed();
    await engine.pawl.result(executionId);

    const foreign = await engine.start(graph('finds', [held('look')]), { tenantId: 'acme' });
    const stranger = await work.next('look');
    expect(await stranger.context.findResource(page('p2'))).toBeNull();
    stranger.succeed();
    await engine.pawl.result(foreign, { tenantId: 'acme' });
  });

  it('the same execution may name a resource twice, and the first node keeps the link', async () => {
    const executionId = await engine.start(graph('names-twice', [held('make', to('update')), held('update')]));
    (await work.next('make')).succeed({}, [page('p3')]);
    (await work.next('update')).succeed({}, [page('p3'), page('p4')]);
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    const links = await engine.pawl.store.executionLinks({ executionId });
    expect(links.map(({ resourceId, nodeId }) => [resourceId, nodeId])).toEqual([
      ['p3', 'make'],
      ['p4', 'update'],
    ]);
  });

  it('a resource belongs to one execution, and another execution that claims it fails', async () => {
    const definition = graph('claims', [held('make', tries(3))]);
    const owner = await engine.start(definition);
    (await work.next()).succeed({}, [page('p5')]);
    await engine.pawl.result(owner);
    const other = await engine.start(definition);
    (await work.next()).succeed({}, [page('p5')]);
    expect(await engine.pawl.result(other)).toMatchObject({
      status: 'Failed',
      error: {
        code: 'WFENG003',
        message: `confluence page p5 is already linked to execution ${owner}`,
        nodeId: 'make',
      },
    });
    expect(await engine.pawl.store.resourceFind({ tenantId: TENANT, ...page('p5') })).toMatchObject({
      executionId: owner,
    });
  });

  it('a resource that two executions claim at the same moment belongs to one of them', async () => {
    const definition = graph('races', [held('make', tries(1))]);
    const started = [await engine.start(definition), await engine.start(definition)];
    const attempts = [await work.next(), await work.next()];
    for (const attempt of attempts) attempt.succeed({}, [page('p7')]);
    const ended = await Promise.all(started.map((executionId) => engine.pawl.result(executionId)));
    const holder = await engine.pawl.store.resourceFind({ tenantId: TENANT, ...page('p7') });
    expect(ended.filter(({ status }) => status === 'Succeeded').map(({ executionId }) => executionId)).toEqual([
      holder!.executionId,
    ]);
    expect(ended.find(({ status }) => status === 'Failed')?.error).toMatchObject({ code: 'WFENG003' });
  });
});
