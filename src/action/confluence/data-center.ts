// Confluence Data Center: the REST API under /rest/api, with spaces by key.

import { z } from 'zod';
import type { AskConfluence } from './client.ts';
import { links, listLinks, pageUrl, type Wiki } from './page.ts';

const address = z.object({ id: z.string(), _links: links });
const list = z.object({
  results: z.array(
    address.extend({
      history: z.object({ createdDate: z.string(), createdBy: z.object({ userKey: z.string() }) }),
    }),
  ),
  _links: listLinks,
});
const content = address.extend({
  title: z.string(),
  version: z.object({ number: z.int(), message: z.string().default('') }),
  body: z.object({ storage: z.object({ value: z.string() }) }),
});
const user = z.object({ userKey: z.string() });

const storage = (value: string) => ({ storage: { value, representation: 'storage' } });

export function createDataCenterWiki(ask: AskConfluence, base: string): Wiki {
  const at = ({ id, _links }: z.output<typeof address>) => ({ pageId: id, url: pageUrl(_links, base) });
  return {
    async find({ space, title }) {
      const query = { type: 'page', spaceKey: space, title, expand: 'history' };
      const { results, _links } = await ask(list, { path: '/rest/api/content', query });
      const [found] = results;
      if (found === undefined) return null;
      const { createdDate: createdAt, createdBy } = found.history;
      return { ...at({ ...found, _links: { ..._links, ...found._links } }), createdAt, createdBy: createdBy.userKey };
    },
    async get(pageId) {
      const query = { expand: 'body.storage,version' };
      const page = await ask(content, { path: `/rest/api/content/${pageId}`, query });
      const { title, version, body } = page;
      return { ...at(page), title, version: version.number, versionMessage: version.message, body: body.storage.value };
    },
    async create({ space, title, body, parentId }) {
      const ancestors = parentId === undefined ? {} : { ancestors: [{ id: parentId }] };
      const page = { type: 'page', title, space: { key: space }, ...ancestors, body: storage(body) };
      return at(await ask(address, { method: 'POST', path: '/rest/api/content', body: page }));
    },
    async update({ pageId, title, body, version, versionMessage }) {
      const page = {
        id: pageId,
        type: 'page',
        title,
        body: storage(body),
        version: { number: version, message: versionMessage },
      };
      return at(await ask(address, { method: 'PUT', path: `/rest/api/content/${pageId}`, body: page }));
    },
    async me() {
      return (await ask(user, { path: '/rest/api/user/current' })).userKey;
    },
  };
}
