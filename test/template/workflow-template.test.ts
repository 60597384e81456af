// Workflow templates through the API: writing them, instantiating them, ownership, and refusals.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { readOfficialTemplates } from '../../src/store/migrate/official-templates.ts';
import { type AskOptions, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
const PATH = '/api/v1/templates/workflows';

let eve: AskOptions;
beforeAll(async () => {
  eve = { token: await tokenFor({ tenant: 'globex', subject: 'eve' }) };
});

const greeting = {
  displayName: 'Greeting',
  description: 'Says something to somebody.',
  category: 'Test',
  tags: ['hello'],
  configSchema: {
    type: 'object',
    required: ['name'],
    additionalProperties: false,
    properties: {
      name: { type: 'string' },
      limit: { type: 'integer', minimum: 1, default: 3 },
      words: { type: 'array', items: { type: 'string' }, default: ['hello'] },
    },
  },
  definition: {
    id: 'ignored',
    displayName: 'Ignored',
    description: 'For {{ config.name }}',
    startNode: 'say',
    nodes: [
      {
        id: 'say',
        actionType: 'core.echo',
        parameters: {
          words: '{{ config.words }}',
          text: '{{ config.name }} and {{ trigger.other }}',
          count: '{{trigger.count}}',
        },
        policies: { retry: { maxAttempts: '{{ config.limit }}' } },
        edges: [{ targetNode: 'many', condition: 'context.data.say.count > config.limit' }],
      },
      { id: 'many', actionType: 'core.echo', parameters: { many: true } },
    ],
  },
} satisfies JsonObject;

const create = (id: string, change: JsonObject = {}, options: AskOptions = {}) =>
  server.post(PATH, { id, ...greeting, ...change }, options);

const instantiate = (id: string, displayName: string, config: JsonObject, options: AskOptions = {}) =>
  server.post(`${PATH}/${id}/instantiate`, { displayName, config }, options);

describe('a workflow template', () => {
  it('a template is created, shown, replaced and deleted', async () => {
    expect(await create('life', { author: 'Ada', thumbnailUrl: 'https://example.com/a.png' })).toMatchObject({
      status: 201,
      body: { id: 'life', isOfficial: false, author: 'Ada', tags: ['hello'], definition: greeting.definition },
    });
    expect(await create('life')).toMatchObject({ status: 409, body: { error: { code: 'WORKFLOW_TEMPLATE_EXISTS' } } });
    const body = { ...greeting, displayName: 'Second' };
    expect(await server.ask('PUT', `${PATH}/life`, { body })).toMatchObject({
      status: 200,
      body: { displayName: 'Second' },
    });
    const { body: shown } = await server.get(`${PATH}/life`);
    expect(shown).not.toHaveProperty('author');
    expect(await server.ask('PUT', `${PATH}/life`, { body: { ...shown, category: 'Third' } })).toMatchObject({
      status: 200,
      body: { displayName: 'Second', category: 'Third' },
    });
    expect(await server.ask('DELETE', `${PATH}/life`)).toMatchObject({ status: 204 });
    for (const method of ['GET', 'DELETE']) {
      expect(await server.ask(method, `${PATH}/life`)).toMatchObject({
        status: 404,
        body: { error: { code: 'WORKFLOW_TEMPLATE_NOT_FOUND' } },
      });
    }
    expect(await server.ask('PUT', `${PATH}/life`, { body })).toMatchObject({ status: 404 });
  });

  it('templates are listed with the official ones, by category, origin and words, in pages', async () => {
    await create('listed', { category: 'Listing', displayName: 'Über_alles 100%' });
    const ids = async (query: string) => {
      const { body } = await server.get(`${PATH}?${query}`);
      return (body.data as JsonObject[]).map(({ id }) => id);
    };
    const official = readOfficialTemplates().map(({ templateId }) => templateId);
    expect(await ids('isOfficial=true')).toEqual(official);
    expect(official).toHaveLength(5);
    expect(await ids('isOfficial=false')).not.toContain(official[0]);
    expect(await ids('category=Listing')).toEqual(['listed']);
    expect(await ids('search=STANDUP')).toEqual(['daily-standup-reminder']);
    expect(await ids(`search=${encodeURIComponent('100%')}`)).toEqual(['listed']);
    expect(await ids('search=alles_100')).toEqual([]);
    const { body } = await server.get(`${PATH}?isOfficial=true&limit=2`);
    expect(await ids(`isOfficial=true&limit=2&cursor=${body.nextCursor as string}`)).toEqual(official.slice(2, 4));
    expect((body.data as JsonObject[])[0]).not.toHaveProperty('definition');
  });

  it('a template belongs to its tenant alone, and nobody can change official ones (S1)', async () => {
    await create('ours');
    expect(await server.get(`${PATH}/ours`, eve)).toMatchObject({ status: 404 });
    expect(await instantiate('ours', 'X', { name: 'x' }, eve)).toMatchObject({ status: 404 });
    expect(await server.ask('DELETE', `${PATH}/ours`, eve)).toMatchObject({ status: 404 });
    expect(await server.ask('PUT', `${PATH}/ours`, { body: greeting, ...eve })).toMatchObject({ status: 404 });
    expect(await create('ours', { displayName: 'Theirs' }, eve)).toMatchObject({ status: 201 });
    expect((await server.get(`${PATH}/ours`)).body).toMatchObject({ displayName: 'Greeting' });
    const address = `${PATH}/http-health-check`;
    expect(await server.ask('DELETE', address)).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect(await create('http-health-check', { displayName: 'Our own' })).toMatchObject({ status: 201 });
    expect((await server.get(address)).body).toMatchObject({ displayName: 'Our own', isOfficial: false });
    expect((await server.get(address, eve)).body).toMatchObject({ isOfficial: true });
    expect(await server.ask('DELETE', address)).toMatchObject({ status: 204 });
    expect((await server.get(address)).body).toMatchObject({ isOfficial: true });
  });
});

describe('instantiating a template', () => {
  it('instantiating makes a Draft with the config filled in, and nothing else changed', async () => {
    await create('hello');
    expect(await instantiate('hello', 'My Custom Workflow', { name: 'Ada' })).toMatchObject({
      status: 201,
      body: { workflowId: 'my-custom-workflow', status: 'Draft' },
    });
    const { body } = await server.get('/api/v1/workflows/my-custom-workflow');
    expect(body).toMatchObject({ status: 'Draft', displayName: 'My Custom Workflow', description: 'For Ada' });
    expect(body.definition).toMatchObject({
      id: 'my-custom-workflow',
      nodes: [
        {
          parameters: { words: ['hello'], text: 'Ada and {{ trigger.other }}', count: '{{trigger.count}}' },
          policies: { retry: { maxAttempts: 3 } },
          edges: [{ condition: 'context.data.say.count > 3' }],
        },
        {},
      ],
    });
  });

  it('instantiating gives a workflow that can be published and run', async () => {
    await create('runs');
    await instantiate('runs', 'It runs', { name: 'Ada', limit: 1 });
    expect(await server.post('/api/v1/workflows/it-runs/publish')).toMatchObject({ status: 200 });
    const { body } = await server.post('/api/v1/workflows/it-runs/execute', { trigger: { other: 'Bob', count: 2 } });
    const result = await server.pawl.result(body.executionId as string, { tenantId: 'acme' });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { many: true } });
  });

  it('instantiating numbers names that are taken, even many at once, and changes nothing existing', async () => {
    await create('twins');
    await server.pawl.publish(
      { ...greeting.definition, id: 'same', nodes: [greeting.definition.nodes[1]!], startNode: 'many' },
      { tenantId: 'acme' },
    );
    const made = await Promise.all(Array.from({ length: 6 }, () => instantiate('twins', 'Same', { name: 'x' })));
    const ids = made.map(({ body }) => body.workflowId as string).sort();
    expect(ids).toEqual(['same-2', 'same-3', 'same-4', 'same-5', 'same-6', 'same-7']);
    expect((await server.get('/api/v1/workflows/same')).body).toMatchObject({ status: 'Active' });
    await server.ask('DELETE', '/api/v1/workflows/same-3');
    expect((await instantiate('twins', 'same!', { name: 'x' })).body).toMatchObject({ workflowId: 'same-3' });
    expect((await instantiate('twins', '日本', { name: 'x' })).body).toMatchObject({ workflowId: 'twins' });
  });

  it('instantiating reports every problem of the config', async () => {
    await create('picky');
    expect(await instantiate('picky', 'X', { limit: 0, words: 'no', other: 1 })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005' } },
    });
    const { body } = await instantiate('picky', 'X', { limit: 0, words: 'no', other: 1 });
    const paths = ((body.error as JsonObject).details as JsonObject[]).map(({ code, path }) => `${code} ${path}`);
    expect(paths.sort()).toEqual([
      'ADDITIONALPROPERTIES /config',
      'MINIMUM /config/limit',
      'REQUIRED /config',
      'TYPE /config/words',
    ]);
  });

  it('instantiating refuses a config that gives no valid workflow, with the path', async () => {
    const configSchema = { type: 'object', properties: { action: { type: 'string' }, gone: {} } };
    const definition = {
      startNode: 'a',
      nodes: [{ id: 'a', actionType: '{{ config.action }}', parameters: { x: '{{ config.gone }}' } }],
    };
    await create('strange', { configSchema, definition });
    expect(await instantiate('strange', 'X', { action: 'core.echo' })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005', details: [{ path: '/nodes/0/parameters/x' }] } },
    });
    expect(await instantiate('strange', 'X', { action: '', gone: 1 })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005', details: [{ path: '/nodes/0/actionType' }] } },
    });
  });
});

describe('bad input', () => {
  it.each<[string, JsonObject, string]>([
    ['no definition', { definition: null }, '/definition'],
    ['a definition that is a list', { definition: [] }, '/definition'],
    ['no schema', { configSchema: 'x' }, '/configSchema'],
    ['an empty description', { description: '' }, '/description'],
    ['tags with spaces', { tags: ['a b'] }, '/tags/0'],
    ['a picture that is no address', { thumbnailUrl: 'javascript:alert(1)' }, '/thumbnailUrl'],
    ['a claim to be official', { isOfficial: true }, '/isOfficial'],
    ['a name with U+0000', { displayName: '\u0000' }, '/displayName'],
  ])('a template with invalid fields is refused: %s', async (_name, change, path) => {
    expect(await create('bad', change)).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', details: [{ path }] } },
    });
  });

  it.each<[string, JsonObject, JsonObject[]]>([
    ['a pipeline', { definition: { name: 'x', tasks: {} } }, [{ code: 'NOT_A_GRAPH', path: '/definition' }]],
    ['a schema that is none', { configSchema: { type: 'x' } }, [{ code: 'SCHEMA_INVALID', path: '/configSchema' }]],
    [
      'a config that the schema does not know',
      { configSchema: { properties: { name: {} } } },
      [
        { code: 'UNKNOWN_CONFIG', path: '/definition/nodes/0/parameters/words' },
        { path: '/definition/nodes/0/policies/retry/maxAttempts' },
        { path: '/definition/nodes/0/edges/0/condition' },
      ],
    ],
    [
      'an example that does not match its schema',
      { configSchema: { ...greeting.configSchema, examples: [{ name: 5 }] } },
      [{ code: 'TYPE', path: '/configSchema/examples/0/name' }],
    ],
    [
      'an example that gives no workflow',
      {
        configSchema: { type: 'object', properties: { next: {} }, examples: [{ next: 'nowhere' }] },
        definition: {
          startNode: 'a',
          nodes: [{ id: 'a', actionType: 'core.echo', edges: [{ targetNode: '{{ config.next }}' }] }],
        },
      },
      [{ path: '/definition/nodes/0/edges/0/targetNode' }],
    ],
  ])('a template that cannot work is refused: %s', async (_name, change, details) => {
    const answer = await create('bad', change);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'WFENG005', details } } });
  });

  it.each([{}, { displayName: '' }, { displayName: 'x', config: [] }, { displayName: 'x', other: 1 }])(
    'instantiating a template with %j is refused',
    async (body) => {
      expect(await server.post(`${PATH}/http-health-check/instantiate`, body)).toMatchObject({
        status: 400,
        body: { error: { code: 'REQUEST_INVALID' } },
      });
    },
  );
});
