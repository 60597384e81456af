// Document templates through the API: sets, versions, rendering, ownership, and refusals.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { SCOPES } from '../../src/protocol/scope.ts';
import { type AskOptions, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
const PATH = '/api/v1/templates';

let eve: AskOptions;
let author: AskOptions;
beforeAll(async () => {
  eve = { token: await tokenFor({ tenant: 'globex', subject: 'eve' }) };
  author = { token: await tokenFor({ scope: SCOPES.filter((scope) => scope !== 'admin') }) };
});

const put = (set: string, body: JsonObject = {}, options: AskOptions = {}) =>
  server.ask('PUT', `${PATH}/sets/${set}`, { body: { displayName: set, team: 'PMO', ...body }, ...options });

const add = (set: string, id: string, body: JsonObject = {}, options: AskOptions = {}) =>
  server.post(`${PATH}/${set}/${id}`, { displayName: id, bodyTemplate: `${id} {{ title }}`, ...body }, options);

const render = (path: string, body: unknown = { answers: { title: 'Apollo' } }, options: AskOptions = {}) =>
  server.post(`${PATH}/${path}`, body, options);

describe('a set of documents', () => {
  it('a set is created, then changed, and keeps the fields that are not mentioned', async () => {
    expect(await put('briefs', { isEnabled: false })).toMatchObject({
      status: 201,
      body: { id: 'briefs', displayName: 'briefs', team: 'PMO', isEnabled: false, isGlobal: false },
    });
    expect(await put('briefs', { displayName: 'Briefs' })).toMatchObject({
      status: 200,
      body: { displayName: 'Briefs', isEnabled: false },
    });
    expect((await put('briefs', { isEnabled: true })).body).toMatchObject({ isEnabled: true });
    const { body: shown } = await server.get(`${PATH}/sets/briefs`);
    expect(shown).toMatchObject({ team: 'PMO' });
    expect(await put('briefs', { ...shown, team: 'Sales' })).toMatchObject({ status: 200, body: { team: 'Sales' } });
  });

  it('sets are listed by team and in pages', async () => {
    await put('list-a', { team: 'lists' });
    await put('list-b', { team: 'lists' });
    const first = await server.get(`${PATH}/sets?team=lists&limit=1`);
    expect(first.body).toMatchObject({ data: [{ id: 'list-a' }] });
    const second = await server.get(`${PATH}/sets?team=lists&limit=1&cursor=${first.body.nextCursor as string}`);
    expect(second.body).toMatchObject({ data: [{ id: 'list-b' }] });
    expect(second.body).not.toHaveProperty('nextCursor');
  });

  it('a set that does not exist has no documents', async () => {
    expect(await add('nowhere', 'a')).toMatchObject({
      status: 404,
      body: { error: { code: 'TEMPLATE_SET_NOT_FOUND' } },
    });
    expect(await server.get(`${PATH}/sets/nowhere`)).toMatchObject({ status: 404 });
  });
});

describe('a document', () => {
  it('a document gets a new version with every POST, even when many come at once', async () => {
    await put('many');
    const answers = await Promise.all(Array.from({ length: 8 }, () => add('many', 'doc')));
    const versions = answers.map(({ body }) => body.version as number).sort();
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const { body } = await server.get(`${PATH}/many/doc/versions?limit=3&cursor=7`);
    expect(body).toMatchObject({ data: [{ version: 6 }, { version: 5 }, { version: 4 }], nextCursor: '4' });
  });

  it('a document is shown whole, in the requested version or the newest enabled one', async () => {
    await put('whole');
    const fields = [{ key: 'title', label: 'Title', type: 'text', required: true, hint: 'short' }];
    await add('whole', 'doc', { bodyTemplate: 'one' });
    await add('whole', 'doc', { bodyTemplate: 'two', fields, helpMarkdown: '# Help' });
    await add('whole', 'doc', { bodyTemplate: 'three', isEnabled: false });
    expect(await server.get(`${PATH}/whole/doc`)).toMatchObject({
      status: 200,
      body: { templateSetId: 'whole', id: 'doc', version: 2, bodyTemplate: 'two', fields, helpMarkdown: '# Help' },
    });
    expect((await server.get(`${PATH}/whole/doc?version=1`)).body).toMatchObject({ version: 1, bodyTemplate: 'one' });
    expect((await server.get(`${PATH}/whole/doc?version=3`)).body).toMatchObject({ isEnabled: false });
    expect(await server.get(`${PATH}/whole/doc?version=4`)).toMatchObject({
      status: 404,
      body: { error: { code: 'WFENG004', message: expect.stringContaining('version 4') } },
    });
  });

  it('documents are listed in their newest enabled version, by team and set, in pages', async () => {
    await put('shelf', { team: 'library' });
    await put('closed', { team: 'library', isEnabled: false });
    await add('closed', 'hidden');
    for (const id of ['a', 'b', 'b', 'c']) await add('shelf', id);
    await add('shelf', 'c', { isEnabled: false });
    await add('shelf', 'd', { isEnabled: false });
    const listed = async (query: string) => {
      const { body } = await server.get(`${PATH}?${query}`);
      return (body.data as JsonObject[]).map(({ id, version }) => `${id} ${version}`);
    };
    expect(await listed('team=library')).toEqual(['a 1', 'b 2', 'c 1']);
    expect(await listed('set=shelf&limit=2')).toEqual(['a 1', 'b 2']);
    const { nextCursor } = (await server.get(`${PATH}?set=shelf&limit=2`)).body;
    expect(await listed(`set=shelf&limit=2&cursor=${nextCursor as string}`)).toEqual(['c 1']);
    expect(await listed('team=nobody')).toEqual([]);
  });

  it('a document can be disabled and enabled, version by version', async () => {
    await put('switch');
    await add('switch', 'doc');
    const patch = (isEnabled: boolean) => server.ask('PATCH', `${PATH}/switch/doc/versions/1`, { body: { isEnabled } });
    expect(await patch(false)).toMatchObject({ status: 200, body: { isEnabled: false } });
    for (const path of ['switch/doc/render', 'switch/doc/render?version=1', 'doc/render?set=switch']) {
      expect(await render(path)).toMatchObject({ status: 404, body: { error: { code: 'WFENG004' } } });
    }
    expect(await server.get(`${PATH}/switch/doc`)).toMatchObject({ status: 404 });
    await patch(true);
    await put('switch', { isEnabled: false });
    expect(await render('switch/doc/render')).toMatchObject({ status: 404 });
    await put('switch', { isEnabled: true });
    expect(await render('switch/doc/render')).toMatchObject({ status: 200 });
    expect(await server.ask('PATCH', `${PATH}/switch/doc/versions/9`, { body: { isEnabled: true } })).toMatchObject({
      status: 404,
      body: { error: { code: 'WFENG004' } },
    });
  });
});

describe('a document by its id alone', () => {
  it('a document is found by id if only one set has it; otherwise the answer names the sets', async () => {
    await put('one');
    await put('two');
    await add('one', 'lonely');
    await add('one', 'shared');
    await add('two', 'shared', { bodyTemplate: 'two {{ title }}' });
    expect((await server.get(`${PATH}/lonely`)).body).toMatchObject({ templateSetId: 'one' });
    expect((await render('lonely/render')).body).toEqual({ renderedBody: 'lonely Apollo' });
    for (const answer of [await server.get(`${PATH}/shared`), await render('shared/render')]) {
      expect(answer).toMatchObject({
        status: 409,
        body: { error: { code: 'TEMPLATE_AMBIGUOUS', details: { sets: ['one', 'two'] } } },
      });
    }
    expect((await server.get(`${PATH}/shared?set=two`)).body).toMatchObject({ templateSetId: 'two' });
    expect((await render('shared/render?set=two&version=1')).body).toEqual({ renderedBody: 'two Apollo' });
    await put('two', { isEnabled: false });
    expect((await render('shared/render')).body).toEqual({ renderedBody: 'shared Apollo' });
  });
});

describe('rendering a document', () => {
  beforeAll(async () => {
    await put('render-set');
    await add('render-set', 'brief', {
      fields: {
        fields: [{ key: 'title', required: true }],
        validation: { jsonSchema: { type: 'object', properties: { title: { type: 'string' }, days: { minimum: 1 } } } },
      },
      bodyTemplate: '<h1>{{ answers.title }}</h1>{{ title | escape }} {{ extras.by | default: "nobody" }}',
    });
  });

  it('rendering fills in answers and extras', async () => {
    const body = { answers: { title: '<Apollo>' }, extras: { by: 'Ada' } };
    expect(await render('render-set/brief/render', body)).toMatchObject({
      status: 200,
      body: { renderedBody: '<h1><Apollo></h1>&lt;Apollo&gt; Ada' },
    });
  });

  it('rendering reports every problem of the answers', async () => {
    expect(await render('render-set/brief/render', {})).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005', details: [{ code: 'REQUIRED', path: '/answers/title' }] } },
    });
    expect(await render('render-set/brief/render', { answers: { title: 5, days: 0 } })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005', details: [{ path: '/answers/title' }, { path: '/answers/days' }] } },
    });
  });

  it('rendering reports the line and column of each missing value', async () => {
    await add('render-set', 'gap', { bodyTemplate: 'one\n{{ two }}\n{{ three.four }}' });
    expect(await render('render-set/gap/render')).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'TEMPLATE_ERROR',
          details: [
            { path: '/bodyTemplate', line: 2, column: 4 },
            { path: '/bodyTemplate', line: 3, column: 4 },
          ],
        },
      },
    });
  });

  it('rendering stops at a document that is too large, and at a schema that never ends', async () => {
    await add('render-set', 'large', { bodyTemplate: '{{ text }}'.repeat(3) });
    expect(await render('render-set/large/render', { answers: { text: 'x'.repeat(500_000) } })).toMatchObject({
      status: 413,
      body: { error: { code: 'OUTPUT_TOO_LARGE' } },
    });
    const jsonSchema = { properties: { title: { type: 'string', pattern: '^(a+)+$' } } };
    await add('render-set', 'endless', { fields: { validation: { jsonSchema } } });
    expect(await render('render-set/endless/render', { answers: { title: `${'a'.repeat(60)}!` } })).toMatchObject({
      status: 422,
      body: { error: { code: 'TEMPLATE_TIMEOUT' } },
    });
  });
});

describe('documents of other tenants (S1)', () => {
  it('another tenant sees no document, and may use the same names', async () => {
    await put('ours');
    await add('ours', 'secret');
    for (const path of ['sets/ours', 'ours/secret', 'secret', 'ours/secret/versions']) {
      expect({ path, status: (await server.get(`${PATH}/${path}`, eve)).status }).toEqual({ path, status: 404 });
    }
    expect(await render('ours/secret/render', {}, eve)).toMatchObject({ status: 404 });
    expect(await add('ours', 'secret', {}, eve)).toMatchObject({ status: 404 });
    expect((await server.get(`${PATH}?set=ours`, eve)).body.data).toEqual([]);
    await put('ours', {}, eve);
    expect(await add('ours', 'secret', { bodyTemplate: 'theirs' }, eve)).toMatchObject({ status: 201 });
    expect((await render('ours/secret/render', {}, eve)).body).toEqual({ renderedBody: 'theirs' });
    expect((await render('ours/secret/render')).body).toEqual({ renderedBody: 'secret Apollo' });
    const patch = { body: { isEnabled: false }, ...eve };
    expect(await server.ask('PATCH', `${PATH}/ours/secret/versions/1`, patch)).toMatchObject({ status: 200 });
    expect(await render('ours/secret/render')).toMatchObject({ status: 200 });
  });

  it('a global set is changed by an admin only, and is hidden by a set of the same name', async () => {
    expect(await put('everyone', { isGlobal: true }, author)).toMatchObject({ status: 403 });
    expect(await put('everyone', { isGlobal: true })).toMatchObject({ status: 201, body: { isGlobal: true } });
    await add('everyone', 'doc', { bodyTemplate: 'for all' });
    expect(await add('everyone', 'doc', {}, author)).toMatchObject({
      status: 403,
      body: { error: { code: 'FORBIDDEN' } },
    });
    expect((await render('everyone/doc/render', {}, eve)).body).toEqual({ renderedBody: 'for all' });
    await put('everyone', {}, eve);
    expect(await render('everyone/doc/render', {}, eve)).toMatchObject({ status: 404 });
    expect((await render('everyone/doc/render')).body).toEqual({ renderedBody: 'for all' });
  });

  it('a tenantId in the body must be the tenant of the token', async () => {
    expect(await put('mine', { tenantId: 'globex' })).toMatchObject({
      status: 403,
      body: { error: { code: 'TENANT_MISMATCH' } },
    });
  });
});

describe('bad input', () => {
  const long = 'x'.repeat(256 * 1024 + 1);

  it.each<[string, string, string, unknown, string]>([
    ['a set without a name', 'PUT', 'sets/a', { team: 'x' }, '/displayName'],
    ['a set of an empty team', 'PUT', 'sets/a', { displayName: 'x', team: '' }, '/team'],
    ['a set with something else', 'PUT', 'sets/a', { displayName: 'x', team: 'x', other: 1 }, '/other'],
    ['a set that is a list', 'PUT', 'sets/a', [], ''],
    ['U+0000', 'PUT', 'sets/a', { displayName: 'a\u0000', team: 'x' }, '/displayName'],
    ['no body', 'POST', 'bad/a', { displayName: 'x' }, '/bodyTemplate'],
    ['a body that is no text', 'POST', 'bad/a', { displayName: 'x', bodyTemplate: 5 }, '/bodyTemplate'],
    ['a body that is too long', 'POST', 'bad/a', { displayName: 'x', bodyTemplate: long }, '/bodyTemplate'],
    ['fields that are none', 'POST', 'bad/a', { displayName: 'x', bodyTemplate: '', fields: 5 }, '/fields'],
    ['answers that are a list', 'POST', 'bad/a/render', { answers: [] }, '/answers'],
    ['a version that is no number', 'POST', 'bad/a/render?version=x', {}, '/query/version'],
    ['version 0', 'GET', 'bad/a?version=0', undefined, '/query/version'],
    ['a limit of 0', 'GET', '?limit=0', undefined, '/query/limit'],
    ['a cursor of another list', 'GET', '?cursor=x', undefined, '/query/cursor'],
    ['a set that is none', 'GET', 'x?set=../etc', undefined, '/query/set'],
  ])('a request is refused: %s', async (_name, method, path, body, where) => {
    const address = path.startsWith('?') ? `${PATH}${path}` : `${PATH}/${path}`;
    const answer = await server.ask(method, address, body === undefined ? {} : { body });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID' } } });
    expect((answer.body.error as JsonObject).details).toMatchObject([{ path: where }]);
  });

  it.each([
    [{ bodyTemplate: '{% if x %}' }, '/bodyTemplate', 'TEMPLATE_ERROR'],
    [{ bodyTemplate: '{% for x in y %}{% endfor %}' }, '/bodyTemplate', 'TAG_REFUSED'],
    [
      { fields: { validation: { jsonSchema: { type: 'nothing' } } } },
      '/fields/validation/jsonSchema',
      'SCHEMA_INVALID',
    ],
  ])('a document with %j is refused and not stored', async (body, path, code) => {
    await put('bad');
    const answer = await add('bad', 'refused', body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'WFENG005', details: [{ path, code }] } } });
    expect(await server.get(`${PATH}/bad/refused`)).toMatchObject({ status: 404 });
  });

  it.each(['sets', 'workflows', 'render', 'versions', '1st', 'a b', 'a.b', `a${'b'.repeat(100)}`])(
    'a document cannot be called %s',
    async (id) => {
      await put('bad');
      expect((await add('bad', encodeURIComponent(id))).status).toBeGreaterThanOrEqual(400);
      expect(await put(encodeURIComponent(id))).toMatchObject({ status: 404 });
    },
  );
});
