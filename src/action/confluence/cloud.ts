// Confluence Cloud: the REST API v2 under /api/v2, which knows spaces by id; the key is looked up first.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import type { AskConfluence } from './client.ts';
import { links, listLinks, pageUrl, type Wiki } from './page.ts';

const spaces = z.object({ results: z.array(z.object({ id: z.string() })) });
const address = z.object({ id: z.string(), _links: links });
const list = z.object({
  results: z.array(address.extend({ authorId: z.string(), createdAt: z.string() })),
  _links: listLinks,
});
const content = address.extend({
  title: z.string(),
  version: z.object({ number: z.int(), message: z.string().default('') }),
  body: z.object({ storage: z.object({ value: z.string() }) }),
});
const user = z.object({ accountId: z.string() });

const storage = (value: string) => ({ representation: 'storage', value });

export function createCloudWiki(ask: AskConfluence, base: string): Wiki {
  const at = ({ id, _links }: z.output<typeof address>) => ({ pageId: id, url: pageUrl(_links, base) });
  const spaceId = async (key: string): Promise<string> => {
    const { results } = await ask(spaces, { path: '/api/v2/spaces', query: { keys: key } });
    const [space] = results;
    if (space !== undefined) return space.id;
    throw new TerminalError('RESOURCE_NOT_FOUND', `Confluence has no space "${key}", or the token may not see it`);
  };
  return {
    async find({ space, title }) {
      const query = { 'space-id': await spaceId(space), title, status: 'current' };
      const { results, _links } = await ask(list, { path: '/api/v2/pages', query });
      const [found] = results;
      if (found === undefined) return null;
      const { authorId: createdBy, createdAt } = found;
      return { ...at({ ...found, _links: { ..._links, ...found._links } }), createdAt, createdBy };
    },
    async get(pageId) {
      const page = await ask(content, { path: `/api/v2/pages/${pageId}`, query: { 'body-format': 'storage' } });
      const { title, version, body } = page;
      return { ...at(page), title, version: version.number, versionMessage: version.message, body: body.storage.value };
    },
    async create({ space, title, body, parentId }) {
      const page = { spaceId: await spaceId(space), status: 'current', title, parentId, body: storage(body) };
      return at(await ask(address, { method: 'POST', path: '/api/v2/pages', body: page }));
    },
    async update({ pageId, title, body, version, versionMessage }) {
      const page = {
        id: pageId,
        status: 'current',
        title,
        body: storage(body),
        version: { number: version, message: versionMessage },
      };
      return at(await ask(address, { method: 'PUT', path: `/api/v2/pages/${pageId}`, body: page }));
    },
    // The v2 API has no such request.
    async me() {
      return (await ask(user, { path: '/rest/api/user/current' })).accountId;
    },
  };
}
