// Drafts and publishing over HTTP.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { type Refusal, useApi } from './api.ts';
import { echo } from './definition.ts';

const api = useApi();

const save = (definition: Json) => api().post('/workflows', definition);
const publish = (id: string, query = '') => api().post(`/workflows/${id}/publish${query}`);
const get = (id: string, query = '') => api().get(`/workflows/${id}${query}`);

describe('saving a graph', () => {
  it('saving a graph creates a Draft, and saving it again edits the Draft', async () => {
    const created = await save(echo('first', 'one', { description: 'says hello' }));
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: 'first',
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
      displayName: 'Echo first',
      description: 'says hello',
      format: 'graph',
      status: 'Draft',
      isEnabled: true,
      hasDraft: true,
      definition: echo('first', 'one', { description: 'says hello' }),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: expect.any(String),
    });
    const edited = await save({ ...echo('first', 'two'), displayName: 'Another name' });
    expect(edited.status).toBe(200);
    expect((await get('first')).body).toMatchObject({ displayName: 'Another name', definition: echoed('two') });
    expect((await get('first')).body).not.toHaveProperty('description');
  });

  it('saving an invalid graph is refused with every problem and a hint', async () => {
    const { status, body } = await api().post<Refusal>('/workflows', {
      id: 'Bad Id',
      displayName: 'x',
      startNode: 'sya',
      nodes: [
        { id: 'say', actionType: 'core.echo', edges: [{ targetNode: 'nowhere', condition: 'trigger.x ===' }] },
        { id: 'say', actionType: 'core.echo' },
      ],
    });
    expect(status).toBe(400);
    expect(body.error.code).toBe('WFENG005');
    const problems = body.error.details!.map(({ path, code }) => `${path} ${code}`);
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.stringContaining('/id '),
        expect.stringContaining('/startNode '),
        expect.stringContaining('/nodes/0/edges/0/targetNode '),
        expect.stringContaining('/nodes/0/edges/0/condition '),
        expect.stringContaining('/nodes/1/id '),
      ]),
    );
    expect(body.error.details!.find(({ path }) => path === '/startNode')!.suggestion).toContain('`say`');
    expect((await get('Bad%20Id')).status).toBe(404);
  });

  it('a draft may name an unknown action; publishing the draft refuses it', async () => {
    const definition = echo('early');
    const [node] = definition.nodes as JsonObject[];
    expect((await save({ ...definition, nodes: [{ ...node, actionType: 'core.ecko' }] })).status).toBe(201);
    const { status, body } = await api().post<Refusal>('/workflows/early/publish');
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'WFENG005', details: [{ code: 'UNKNOWN_ACTION' }] });
    expect(body.error.details![0]!.suggestion).toContain('core.echo');
  });

  it('a triggerSchema that is not a JSON Schema is refused', async () => {
    const definition = echo('schema', 'x', { triggerSchema: { type: 'objekt' } });
    const { status, body } = await api().post<Refusal>('/workflows', definition);
    expect(status).toBe(400);
    expect(body.error.details).toEqual([expect.objectContaining({ code: 'SCHEMA_INVALID', path: '/triggerSchema' })]);
  });

  it('a body that is not a workflow is refused, with a hint at the right field', async () => {
    const { status, body } = await api().post<Refusal>('/workflows', { node: [] });
    expect(status).toBe(400);
    expect(body.error.details![0]).toMatchObject({ code: 'UNKNOWN_FORMAT', suggestion: 'did you mean `nodes`?' });
  });

  it('twenty requests that create the same workflow at once get one 201 and nineteen 200', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => save(echo('rush', i))));
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
  });
});

describe('publishing', () => {
  it('publishing makes version 1, active and enabled, and closes the draft', async () => {
    await save(echo('live'));
    expect((await publish('live')).body).toEqual({ workflowId: 'live', version: 1, status: 'Active' });
    expect((await get('live')).body).toMatchObject({
      status: 'Active',
      isEnabled: true,
      currentVersion: 1,
      hasDraft: false,
    });
    expect((await publish('live')).body).toEqual({ workflowId: 'live', version: 1, status: 'Active' });
  });

  it('publishing with autoActivate=false makes the version and leaves the workflow a Draft', async () => {
    await save(echo('staged'));
    const staged = await publish('staged', '?autoActivate=false');
    expect(staged.body).toEqual({ workflowId: 'staged', version: 1, status: 'Draft' });
    expect((await get('staged')).body).toMatchObject({ status: 'Draft', hasDraft: true });
    expect((await publish('staged', '?autoActivate=false')).body).toMatchObject({ version: 1, status: 'Draft' });
    expect((await publish('staged')).body).toMatchObject({ version: 1, status: 'Active' });
  });

  it('an Active workflow can be changed through a draft only', async () => {
    await save(echo('change', 'one'));
    await publish('change');
    const over = await api().post<Refusal>('/workflows', echo('change', 'two'));
    expect(over.status).toBe(400);
    expect(over.body.error.code).toBe('WORKFLOW_IMMUTABLE');
    expect(over.body.error.message).toContain('/workflows/change/draft');

    const opened = await api().post('/workflows/change/draft');
    expect(opened.status).toBe(201);
    expect(opened.body).toMatchObject({ status: 'Active', hasDraft: true, definition: echoed('one') });
    expect((await api().post('/workflows/change/draft')).status).toBe(200);
    expect((await save({ ...echo('change', 'two'), displayName: 'Renamed' })).status).toBe(200);
    expect((await get('change')).body).toMatchObject({ displayName: 'Echo change', definition: echoed('one') });
    expect((await get('change', '?version=draft')).body).toMatchObject({ definition: echoed('two') });
    expect((await publish('change')).body).toMatchObject({ version: 2, status: 'Active' });
    expect((await get('change')).body).toMatchObject({
      displayName: 'Renamed',
      currentVersion: 2,
      hasDraft: false,
      definition: echoed('two'),
    });
    expect((await get('change', '?version=1')).body).toMatchObject({ definition: echoed('one') });
    expect((await get('change', '?version=3')).status).toBe(404);
    expect((await get('change', '?version=draft')).status).toBe(404);
  });

  it('publishing an earlier definition brings its version back, whatever the order of its keys', async () => {
    await save(echo('back', 'one'));
    await publish('back');
    await api().post('/workflows/back/draft');
    await save(echo('back', 'two'));
    await publish('back');
    await api().post('/workflows/back/draft');
    await save(Object.fromEntries(Object.entries(echo('back', 'one')).reverse()) as JsonObject);
    expect((await publish('back')).body).toMatchObject({ version: 1 });
    expect((await get('back')).body).toMatchObject({ currentVersion: 1, hasDraft: false });
    await api().post('/workflows/back/draft');
    await save(echo('back', 'three'));
    expect((await publish('back')).body).toMatchObject({ version: 3 });
  });

  it('publishing an unchanged draft makes no version and closes the draft', async () => {
    await save(echo('same'));
    await publish('same');
    await api().post('/workflows/same/draft');
    expect((await publish('same')).body).toMatchObject({ version: 1, status: 'Active' });
    expect((await get('same')).body).toMatchObject({ hasDraft: false });
  });

  it('publishing enables a disabled workflow, even with nothing new to publish', async () => {
    await save(echo('paused', 1));
    await publish('paused');
    await api().send('PATCH', '/workflows/paused', { isEnabled: false });
    expect((await publish('paused', '?autoActivate=false')).body).toMatchObject({ version: 1, status: 'Active' });
    expect((await get('paused')).body).toMatchObject({ isEnabled: false });
    expect((await publish('paused')).body).toMatchObject({ version: 1, status: 'Active' });
    expect((await get('paused')).body).toMatchObject({ isEnabled: true });
  });

  it('twenty requests that publish at once make one version', async () => {
    await save(echo('crowd'));
    const replies = await Promise.all(Array.from({ length: 20 }, () => publish('crowd')));
    expect(replies.map(({ status, body }) => [status, body.version])).toEqual(Array(20).fill([200, 1]));
    expect((await api().get<{ data: unknown[] }>('/workflows/crowd/versions')).body.data).toHaveLength(1);
  });

  it('publishing while others edit the draft makes at most one valid new version', async () => {
    await save(echo('busy', 0));
    await publish('busy');
    await api().post('/workflows/busy/draft');
    await Promise.all([...Array.from({ length: 10 }, (_, i) => save(echo('busy', i))), publish('busy')]);
    const { body } = await api().get<{ data: { version: number }[] }>('/workflows/busy/versions');
    const { definition } = (await get('busy')).body as { definition: { nodes: JsonObject[] } };
    expect(definition.nodes).toHaveLength(1);
    expect(body.data.length).toBeLessThanOrEqual(2);
  });

  it('publishing an unknown workflow answers 404', async () => {
    expect((await publish('nobody')).status).toBe(404);
  });
});

describe('a draft beside the active version', () => {
  it('a draft can be deleted, and the active version stays', async () => {
    await save(echo('drop', 'one'));
    await publish('drop');
    await api().post('/workflows/drop/draft');
    await save(echo('drop', 'two'));
    expect((await api().send('DELETE', '/workflows/drop/draft')).status).toBe(204);
    expect((await get('drop')).body).toMatchObject({ hasDraft: false, definition: echoed('one') });
    expect((await save(echo('drop', 'two'))).status).toBe(400);
    expect((await api().send('DELETE', '/workflows/drop/draft')).status).toBe(404);
  });

  it('a draft that was never published cannot be dropped: it is the whole workflow', async () => {
    await save(echo('only'));
    expect((await api().send<Refusal>('DELETE', '/workflows/only/draft')).status).toBe(409);
    expect((await api().post('/workflows/only/draft')).status).toBe(200);
  });
});

const echoed = (message: string) => ({ nodes: [{ parameters: { message } }] });
