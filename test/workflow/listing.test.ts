// Finding workflows and comparing versions over HTTP.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { useApi } from './api.ts';
import { echo } from './definition.ts';

const api = useApi();

interface Page {
  data: { id: string; name?: string; format?: string }[];
  nextCursor?: string;
}

const ids = async (query: string): Promise<string[]> =>
  (await api().get<Page>(`/workflows${query}`)).body.data.map(({ id, name }) => name ?? id);

describe('lists of workflows', () => {
  beforeAll(async () => {
    for (const id of ['apple', 'banana', 'cherry', 'damson']) await api().post('/workflows', echo(id));
    await api().post('/workflows', echo('elder', 'x', { description: 'Red FRUIT of 100%' }));
    for (const id of ['banana', 'cherry', 'elder']) await api().post(`/workflows/${id}/publish`);
    await api().post('/workflows/elder/archive');
    await api().send('PATCH', '/workflows/cherry', { isEnabled: false });
    await api().post('/workflows', { name: 'fig', tasks: { call: { url: 'http://127.0.0.1:1/' } } });
  });

  it('the list of workflows holds every format, and pipelines with their own fields', async () => {
    const { body } = await api().get<Page>('/workflows');
    expect(body.data.map(({ id, name, format }) => `${name ?? id} ${format}`)).toEqual([
      'apple graph',
      'banana graph',
      'cherry graph',
      'damson graph',
      'elder graph',
      'fig pipeline',
    ]);
    const { body: fig } = await api().get<{ data: { id: string } }>('/workflows/fig');
    expect(body.data[5]).toMatchObject({
      id: fig.data.id,
      displayName: 'fig',
      status: 'Active',
      isEnabled: true,
      enabled: true,
      task_count: 1,
    });
    expect(body.data[0]).not.toHaveProperty('definition');
    expect(body).not.toHaveProperty('nextCursor');
  });

  it.each([
    ['?status=Draft', ['apple', 'damson']],
    ['?status=Active', ['banana', 'cherry', 'fig']],
    ['?status=Archived', ['elder']],
    ['?isEnabled=false', ['cherry', 'elder']],
    ['?status=Active&isEnabled=true', ['banana', 'fig']],
    ['?format=graph&status=Active', ['banana', 'cherry']],
    ['?format=pipeline', ['fig']],
    ['?search=ERR', ['cherry']],
    ['?search=red%20fruit', ['elder']],
    ['?search=100%25', ['elder']],
    ['?search=_', []],
  ])('the query %s lists the matching workflows', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  it('paging through the list of workflows reaches every workflow once', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const { body } = await api().get<Page>(`/workflows?limit=2${cursor}`);
      seen.push(...body.data.map(({ id, name }) => name ?? id));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(['apple', 'banana', 'cherry', 'damson', 'elder', 'fig']);
  });

  it.each(['?status=draft', '?isEnabled=yes', '?limit=0', '?limit=100000', '?cursor=%2F', '?format=yaml'])(
    'the query %s is refused',
    async (query) => {
      expect((await api().get(`/workflows${query}`)).status).toBe(400);
    },
  );
});

describe('versions and the differences between them', () => {
  const publish = async (definition: JsonObject) => {
    await api().post('/workflows/changing/draft');
    await api().post('/workflows', definition);
    await api().post('/workflows/changing/publish');
  };
  const node = (id: string, parameters: Json, edges: JsonObject[] = []) => {
    return { id, actionType: 'core.echo', parameters, edges };
  };

  beforeAll(async () => {
    const base = { id: 'changing', displayName: 'Changing', startNode: 'a' };
    await publish({ ...base, nodes: [node('a', { x: 1 }, [{ targetNode: 'b' }]), node('b', { y: [1, 2] })] });
    await publish({
      ...base,
      displayName: 'Changed',
      nodes: [
        node('zero', {}, [{ targetNode: 'a' }]),
        node('a', { x: 2, z: true }, [{ targetNode: 'b' }]),
        node('b', { y: [1] }),
      ],
      startNode: 'zero',
    });
  });

  it('versions are listed newest first, with the current one marked', async () => {
    const { body } = await api().get('/workflows/changing/versions');
    expect(body.data).toEqual([
      {
        version: 2,
        checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
        isCurrent: true,
        live: 0,
        createdAt: expect.any(String),
      },
      { version: 1, checksum: expect.any(String), isCurrent: false, live: 0, createdAt: expect.any(String) },
    ]);
    const page = await api().get<{ data: { version: number }[]; nextCursor: string }>(
      '/workflows/changing/versions?limit=1',
    );
    expect(page.body.nextCursor).toBe('2');
    const next = await api().get<{ data: { version: number }[] }>('/workflows/changing/versions?limit=1&cursor=2');
    expect(next.body).toEqual({ data: [expect.objectContaining({ version: 1 })] });
  });

  it('a diff names each change by its path, and matches nodes by id', async () => {
    const { body } = await api().get('/workflows/changing/diff?from=1&to=2');
    expect(body).toEqual({
      workflowId: 'changing',
      from: 1,
      to: 2,
      changes: [
        { op: 'replace', path: '/displayName', before: 'Changing', after: 'Changed' },
        { op: 'replace', path: '/startNode', before: 'a', after: 'zero' },
        { op: 'add', path: '/nodes/0', after: node('zero', {}, [{ targetNode: 'a' }]) },
        { op: 'replace', path: '/nodes/1/parameters/x', before: 1, after: 2 },
        { op: 'add', path: '/nodes/1/parameters/z', after: true },
        { op: 'remove', path: '/nodes/2/parameters/y/1', before: 2 },
      ],
    });
    expect((await api().get('/workflows/changing/diff?from=2&to=2')).body.changes).toEqual([]);
  });

  it('a diff against the draft works, and unknown versions are refused', async () => {
    await api().post('/workflows/changing/draft');
    expect((await api().get('/workflows/changing/diff')).body).toMatchObject({ from: 2, to: 'draft', changes: [] });
    expect((await api().get('/workflows/changing/diff?from=1&to=9')).status).toBe(404);
    expect((await api().get('/workflows/changing/diff?from=x&to=2')).status).toBe(400);
  });
});
