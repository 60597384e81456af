// Confluence's REST APIs as far as the connector uses them: Data Center (/rest/api, spaces by key) and Cloud (/api/v2, spaces by
// id) over the same pages. Both refuse what the real ones refuse: a title that is taken, and a version that is not the next.

import { type HttpStandin, httpStandin, type StandinAnswer, type StandinRequest } from './http-standin.ts';

interface WikiPage {
  id: string;
  space: string;
  title: string;
  body: string;
  parentId: string | null;
  version: number;
  versionMessage: string;
  createdAt: string;
  createdBy: string;
}

export interface ConfluenceStandin extends HttpStandin {
  readonly pages: WikiPage[];
}

export interface ConfluenceStandinOptions {
  readonly token: string;
  /** The keys of the spaces. */
  readonly spaces: readonly string[];
}

/** The user that the token belongs to. */
export const CONFLUENCE_USER = 'user-pawl';

export async function confluenceStandin({ token, spaces }: ConfluenceStandinOptions): Promise<ConfluenceStandin> {
  const pages: WikiPage[] = [];
  let lastId = 123_455;
  // An id is never used twice, even after a test has removed the pages.
  const nextId = () => {
    lastId += 1;
    return String(lastId);
  };
  const wiki: Wiki = { pages, spaces, nextId };
  const authorization = token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;
  const server = await httpStandin((request) => {
    if (request.headers.authorization !== authorization) return failed(401, 'Unauthorized');
    const { pathname } = request.url;
    if (pathname === '/rest/api/user/current') {
      return { status: 200, body: { userKey: CONFLUENCE_USER, accountId: CONFLUENCE_USER } };
    }
    if (request.body !== '' && !request.headers['content-type']?.startsWith('application/json')) {
      return failed(415, 'Unsupported Media Type');
    }
    if (pathname.startsWith('/rest/api/content')) return dataCenter(wiki, request);
    if (pathname.startsWith('/api/v2/')) return cloud(wiki, request);
    return failed(404, 'null for uri');
  });
  return Object.assign(server, { pages });
}

interface Wiki {
  readonly pages: WikiPage[];
  readonly spaces: readonly string[];
  readonly nextId: () => string;
}

const BASE = 'https://wiki.example.com';
const failed = (status: number, message: string): StandinAnswer => ({
  status,
  body: { statusCode: status, message, errors: [{ status, code: 'ERROR', title: message, detail: null }] },
});

// ── Data Center ─────────────────────────────────────────────────────────────────────────────────────────────────────

function dataCenter(wiki: Wiki, { method, url, body }: StandinRequest): StandinAnswer {
  const id = /^\/rest\/api\/content\/(\d+)$/.exec(url.pathname)?.[1];
  const view = (page: WikiPage) => dataCenterView(page, url.searchParams.get('expand') ?? '');
  if (method === 'GET' && id === undefined) {
    const found = wiki.pages.filter(
      (page) => page.space === url.searchParams.get('spaceKey') && page.title === url.searchParams.get('title'),
    );
    return { status: 200, body: { results: found.map((page) => withoutBase(view(page))), _links: { base: BASE } } };
  }
  if (method === 'POST' && id === undefined) {
    const { type, title, space, body: content, ancestors } = JSON.parse(body);
    if (type !== 'page' || content?.storage?.representation !== 'storage')
      return failed(400, 'Content body is missing');
    return created(wiki, { space: space?.key, title, body: content.storage.value, parentId: ancestors?.[0]?.id }, view);
  }
  const page = wiki.pages.find((candidate) => candidate.id === id);
  if (page === undefined) return failed(404, `No content found with id: ContentId{id=${id}}`);
  if (method === 'GET') return { status: 200, body: view(page) };
  if (method !== 'PUT') return failed(405, 'Method Not Allowed');
  const { title, body: content, version } = JSON.parse(body);
  return updated(wiki, page, { title, body: content?.storage?.value, version }, view);
}

function dataCenterView(page: WikiPage, expand: string) {
  const wanted = expand.split(',');
  return {
    id: page.id,
    type: 'page',
    status: 'current',
    title: page.title,
    ...(wanted.includes('version') ? { version: { number: page.version, message: page.versionMessage } } : {}),
    ...(wanted.includes('body.storage') ? { body: { storage: { value: page.body, representation: 'storage' } } } : {}),
    ...(wanted.includes('history')
      ? { history: { createdDate: page.createdAt, createdBy: { userKey: page.createdBy } } }
      : {}),
    _links: { base: BASE, webui: `/display/${page.space}/${encodeURIComponent(page.title)}` },
  };
}

/** A list states its base once. */
function withoutBase<View extends { _links: { webui: string } }>(view: View) {
  return { ...view, _links: { webui: view._links.webui } };
}

// ── Cloud ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function cloud(wiki: Wiki, { method, url, body }: StandinRequest): StandinAnswer {
  const { pathname, searchParams } = url;
  if (pathname === '/api/v2/spaces') {
    const keys = searchParams.get('keys')?.split(',') ?? [];
    const results = wiki.spaces.filter((key) => keys.includes(key)).map((key) => ({ id: spaceId(wiki, key), key }));
    return { status: 200, body: { results, _links: { base: BASE } } };
  }
  const id = /^\/api\/v2\/pages\/(\d+)$/.exec(pathname)?.[1];
  const view = (page: WikiPage) => cloudView(wiki, page, searchParams.get('body-format') === 'storage');
  if (method === 'GET' && id === undefined) {
    const found = wiki.pages.filter(
      (page) => spaceId(wiki, page.space) === searchParams.get('space-id') && page.title === searchParams.get('title'),
    );
    return { status: 200, body: { results: found.map((page) => withoutBase(view(page))), _links: { base: BASE } } };
  }
  const { spaceId: space, title, parentId, body: content, version, status } = body === '' ? {} : JSON.parse(body);
  if (method === 'POST' && id === undefined) {
    if (status !== 'current' || content?.representation !== 'storage')
      return failed(400, 'Provided value is not valid');
    const key = wiki.spaces.find((candidate) => spaceId(wiki, candidate) === space);
    return created(wiki, { space: key, title, body: content.value, parentId }, view);
  }
  const page = wiki.pages.find((candidate) => candidate.id === id);
  if (page === undefined) return failed(404, 'Not Found');
  if (method === 'GET') return { status: 200, body: view(page) };
  if (method !== 'PUT' || status !== 'current') return failed(400, 'Provided value is not valid');
  return updated(wiki, page, { title, body: content?.value, version }, view);
}

const spaceId = ({ spaces }: Wiki, key: string): string => String(65_000 + spaces.indexOf(key));

function cloudView(wiki: Wiki, page: WikiPage, withBody: boolean) {
  return {
    id: page.id,
    status: 'current',
    title: page.title,
    spaceId: spaceId(wiki, page.space),
    authorId: page.createdBy,
    createdAt: page.createdAt,
    version: { number: page.version, message: page.versionMessage },
    body: withBody ? { storage: { value: page.body, representation: 'storage' } } : {},
    _links: { base: BASE, webui: `/spaces/${page.space}/pages/${page.id}` },
  };
}

// ── Both ────────────────────────────────────────────────────────────────────────────────────────────────────────────

type View = (page: WikiPage) => object;
type Written = { space?: unknown; title?: unknown; body?: unknown; parentId?: unknown };

function created(
  { pages, spaces, nextId }: Wiki,
  { space, title, body, parentId }: Written,
  view: View,
): StandinAnswer {
  if (typeof space !== 'string' || !spaces.includes(space)) return failed(404, `No space with key : ${String(space)}`);
  if (typeof title !== 'string' || title === '' || typeof body !== 'string') return failed(400, 'title is required');
  if (pages.some((page) => page.space === space && page.title === title)) return taken(title, space);
  if (parentId !== undefined && !pages.some(({ id }) => id === parentId)) return failed(400, 'No parent page');
  const page: WikiPage = {
    id: nextId(),
    space,
    title,
    body,
    parentId: typeof parentId === 'string' ? parentId : null,
    version: 1,
    versionMessage: '',
    createdAt: new Date().toISOString(),
    createdBy: CONFLUENCE_USER,
  };
  pages.push(page);
  return { status: 200, body: view(page) };
}

function updated(
  { pages }: Wiki,
  page: WikiPage,
  { title, body, version }: { title?: unknown; body?: unknown; version?: { number?: unknown; message?: unknown } },
  view: View,
): StandinAnswer {
  if (typeof title !== 'string' || typeof body !== 'string') return failed(400, 'title and body are required');
  if (version?.number !== page.version + 1) return failed(409, `Version must be incremented: ${page.version}`);
  const other = pages.find((candidate) => candidate.space === page.space && candidate.title === title);
  if (other !== undefined && other !== page) return taken(title, page.space);
  const versionMessage = typeof version.message === 'string' ? version.message : '';
  Object.assign(page, { title, body, version: page.version + 1, versionMessage });
  return { status: 200, body: view(page) };
}

function taken(title: string, space: string): StandinAnswer {
  return failed(400, `A page already exists with the title ${title} in the space with key ${space}`);
}
