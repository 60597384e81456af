// What publishing checks against the catalog and by rendering templates; and the execution of drafts.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { defineAction } from '../../src/main.ts';
import { type Refusal, useApi } from './api.ts';
import { echo } from './definition.ts';

const shout = (type: string, notice?: string) =>
  defineAction({
    type,
    version: '1.0.0',
    connector: 'voice',
    category: 'Test',
    ...(notice === undefined ? {} : { deprecationNotice: notice }),
    params: z.object({ text: z.string() }),
    outputs: z.object({ text: z.string() }),
    run: async ({ text }) => ({ outputs: { text: text.toUpperCase() } }),
  });

const api = useApi({
  actions: [shout('voice.shout'), shout('voice.old', 'use voice.shout')],
  catalog: { allowDraftExecution: true },
  publish: { validateParameterTemplates: true },
});

const speaking = (id: string, ...types: string[]): JsonObject => ({
  id,
  displayName: id,
  startNode: 'n0',
  nodes: types.map((actionType, i) => ({
    id: `n${i}`,
    actionType,
    parameters: { text: '{{ trigger.text }}' },
    edges: i + 1 < types.length ? [{ targetNode: `n${i + 1}` }] : [],
  })),
});

async function publish(definition: JsonObject) {
  expect([200, 201]).toContain((await api().post('/workflows', definition)).status);
  return api().post<Refusal & { version: number; warnings?: JsonObject[] }>(`/workflows/${definition.id}/publish`);
}

describe('checks against the catalog', () => {
  it('publishing warns of a deprecated action', async () => {
    const { status, body } = await publish(speaking('dated', 'voice.shout', 'voice.old'));
    expect(status).toBe(200);
    expect(body.warnings).toEqual([
      expect.objectContaining({
        code: 'ACTION_DEPRECATED',
        path: '/nodes/1/actionType',
        suggestion: 'use voice.shout',
      }),
    ]);
    const shown = await api().get<{ warnings?: JsonObject[] }>('/workflows/dated');
    expect(shown.body.warnings).toEqual(body.warnings);
    // Nothing is left to publish, and the answer still has the warning.
    expect((await api().post('/workflows/dated/publish')).body).toEqual(body);
    expect((await api().post('/workflows/dated/draft')).body).toMatchObject({ warnings: body.warnings });
    expect((await api().post('/workflows', speaking('dated-too', 'voice.old'))).body).toMatchObject({
      warnings: [{ code: 'ACTION_DEPRECATED' }],
    });
  });

  it('saving a draft already warns of ignored fields and deprecated actions', async () => {
    const [node] = speaking('mixed', 'voice.old').nodes as JsonObject[];
    const draft = { ...speaking('mixed'), nodes: [{ ...node, workflowId: 'other' }] };
    expect((await api().post('/workflows', draft)).body).toMatchObject({
      warnings: [
        { code: 'IGNORED_FIELD', path: '/nodes/0/workflowId', severity: 'warning' },
        { code: 'ACTION_DEPRECATED', path: '/nodes/0/actionType', severity: 'warning' },
      ],
    });
  });

  it('publishing lists every missing or disabled action, and published versions run on', async () => {
    expect((await publish(speaking('running-on', 'voice.shout'))).status).toBe(200);
    await api().pawl.store.actionUpdate({ id: 'voice.shout', isEnabled: false });
    const { status, body } = await publish(speaking('blocked', 'voice.shout', 'voice.whisper', 'core.echo'));
    expect(status).toBe(400);
    expect(body.error.details!.map(({ code, path }) => `${path} ${code}`).sort()).toEqual([
      '/nodes/0/actionType ACTION_DISABLED',
      '/nodes/1/actionType UNKNOWN_ACTION',
    ]);
    expect((await api().get('/workflows/blocked')).body).toMatchObject({ status: 'Draft' });
    const { executionId } = await api().pawl.start('running-on', { trigger: { text: 'hi' } });
    expect(await api().pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { text: 'HI' } });
    const view = await api().pawl.queries.get('default', executionId);
    const { events } = await api().pawl.queries.events(view, { afterSeq: -1, limit: 100 });
    expect(events.filter(({ type }) => type === 'Warning')).toMatchObject([
      { level: 'Warn', nodeId: 'n0', data: { code: 'ACTION_DISABLED' } },
    ]);

    await api().pawl.store.actionUpdate({ id: 'voice.shout', isEnabled: true });
    await api().pawl.store.connectorUpdate({ id: 'voice', isEnabled: false });
    expect((await publish(speaking('blocked', 'voice.shout'))).status).toBe(400);
    await api().pawl.store.connectorUpdate({ id: 'voice', isEnabled: true });
    expect((await publish(speaking('blocked', 'voice.shout'))).status).toBe(200);
  });
});

describe('rendering parameters when publishing', () => {
  it('publishing refuses a template that would fail every time', async () => {
    const { status, body } = await publish(
      echo('wrong-constant', '{{ vars.greting }} {{ trigger.name }}', { vars: { greeting: 'hi' } }),
    );
    expect(status).toBe(400);
    expect(body.error.details).toEqual([
      expect.objectContaining({
        code: 'TEMPLATE_ERROR',
        path: '/nodes/0/parameters/message',
        message: expect.stringContaining('greeting'),
      }),
    ]);
  });

  it.each<[string, Json]>([
    ['the trigger', '{{ trigger.a.b.map(x => x.c).join(",") }}'],
    ['what is given a default', "{{ trigger.name ?? 'nobody' }}"],
    ['who asks', '{{ principal.email }} {{ execution.id }} {{ spec.x }}'],
  ])('publishing accepts a template that depends on %s', async (what, message) => {
    expect((await publish(echo(`fine-${what.replaceAll(/[^a-z]/g, '-')}`, message))).status).toBe(200);
  });
});

describe('the execution of a draft', () => {
  const start = (id: string, version?: number) => api().pawl.start(id, version === undefined ? {} : { version });
  const outcome = async (executionId: string) => (await api().pawl.result(executionId)).outputs;

  it('the execution of a draft runs the draft as it was at the start', async () => {
    await api().post('/workflows', echo('sketch', 'one'));
    const first = await start('sketch');
    await api().post('/workflows', echo('sketch', 'two'));
    const second = await start('sketch');
    expect(await outcome(first.executionId)).toEqual({ message: 'one' });
    expect(await outcome(second.executionId)).toEqual({ message: 'two' });
    expect((await api().get('/workflows/sketch')).body).not.toHaveProperty('currentVersion');
    expect((await publish(echo('sketch', 'two'))).body).toMatchObject({ version: 1 });
    expect((await api().get<{ data: unknown[] }>('/workflows/sketch/versions')).body.data).toHaveLength(1);
  });

  it('the execution of a draft has version 0 in expressions and in lists', async () => {
    const draft = echo('numbered', '{{ execution.version }}');
    for (const _ of [1, 2]) {
      await api().post('/workflows', draft);
      expect(await outcome((await start('numbered')).executionId)).toEqual({ message: 0 });
    }
    const list = (query: string) =>
      api().get<{ data: { version: number }[] }>(`/executions?workflowId=numbered${query}`);
    for (const status of ['', '&status=Succeeded']) {
      const { data } = (await list(`&version=0${status}`)).body;
      expect(data.map(({ version }) => version)).toEqual([0, 0]);
    }
    expect((await list('&version=1')).body.data).toEqual([]);
  });

  it('a draft beside a published version is started as version 0', async () => {
    await publish(echo('beside', 'published'));
    await expect(start('beside', 0)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
    await api().post('/workflows/beside/draft');
    await api().post('/workflows', echo('beside', 'draft'));
    expect(await outcome((await start('beside', 0)).executionId)).toEqual({ message: 'draft' });
    expect(await outcome((await start('beside')).executionId)).toEqual({ message: 'published' });
  });

  it('the execution of a draft can still be read after the draft is deleted', async () => {
    await api().post('/workflows', echo('brief', 'here'));
    const { executionId } = await start('brief');
    await outcome(executionId);
    expect((await api().send('DELETE', '/workflows/brief')).status).toBe(204);
    expect((await api().get('/workflows/brief')).status).toBe(404);
    expect((await api().pawl.executions.inspect('default', executionId)).outputs.get('say')).toEqual({
      message: 'here',
    });
    expect((await api().post('/workflows', echo('brief', 'again'))).status).toBe(201);
  });

  it('a draft is pinned once, however many executions start at once', async () => {
    await api().post('/workflows', echo('pinned'));
    await Promise.all(Array.from({ length: 20 }, () => start('pinned')));
    const { store } = api().pawl;
    const page = { tenantId: 'default', beforeId: null, limit: 50 };
    const views = await store.executionList(await store.executionPage({ ...page, workflowId: 'pinned' }));
    expect(new Set(views.map(({ version }) => version))).toEqual(new Set([-1]));
  });
});

describe('dependencies of a version', () => {
  const calling = (id: string, workflowId: string, workflowVersion?: number): JsonObject => ({
    id,
    displayName: id,
    startNode: 'call',
    nodes: [
      {
        id: 'call',
        nodeType: 'subworkflow',
        workflowId,
        ...(workflowVersion === undefined ? {} : { workflowVersion }),
      },
    ],
  });
  const warned = async (definition: JsonObject) => {
    const { status, body } = await publish(definition);
    expect(status).toBe(200);
    return (body.warnings ?? []).map(({ code, path }) => `${path} ${code}`);
  };

  it('publishing warns of a subworkflow that is missing, not active, or the workflow itself', async () => {
    await publish(echo('child', 'x'));
    await api().post('/workflows', echo('sketched-child', 'x'));
    expect(await warned(calling('calls-child', 'child', 1))).toEqual([]);
    expect(await warned(calling('calls-nobody', 'nobody'))).toEqual(['/nodes/0/workflowId SUBWORKFLOW_MISSING']);
    expect(await warned(calling('calls-ninth', 'child', 9))).toEqual(['/nodes/0/workflowId SUBWORKFLOW_MISSING']);
    expect(await warned(calling('calls-draft', 'sketched-child'))).toEqual([
      '/nodes/0/workflowId SUBWORKFLOW_NOT_ACTIVE',
    ]);
    expect(await warned(calling('calls-itself', 'calls-itself'))).toEqual([
      '/nodes/0/workflowId SUBWORKFLOW_RECURSION',
    ]);
  });

  it('publishing refuses constant parameters that break the schema, where templates are validated', async () => {
    const definition = speaking('mumbling', 'voice.shout');
    (definition.nodes as JsonObject[])[0]!.parameters = { text: 7 };
    const { status, body } = await publish(definition);
    expect(status).toBe(400);
    expect(body.error.details).toEqual([
      expect.objectContaining({ code: 'PARAMETERS_INVALID', path: '/nodes/0/parameters/text' }),
    ]);
  });
});

describe('publishing without strict parameters', () => {
  const lenient = useApi({ actions: [shout('voice.shout')] });

  it('parameters that break the schema are a warning when strictness is off', async () => {
    const definition = { ...speaking('mumbling', 'voice.shout') };
    (definition.nodes as JsonObject[])[0]!.parameters = {};
    await lenient().post('/workflows', definition);
    expect(await lenient().post('/workflows/mumbling/publish')).toMatchObject({
      status: 200,
      body: { version: 1, warnings: [{ code: 'PARAMETERS_INVALID', path: '/nodes/0/parameters' }] },
    });
  });
});
