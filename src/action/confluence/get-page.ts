// confluence.get-page: a page by its id, or by its space and title.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import type { ConfluenceOptions } from './client.ts';
import { pageAddress, pageId, pageTitle, spaceKey, type Wiki } from './page.ts';
import { openWiki } from './wiki.ts';

const params = z.union([z.strictObject({ pageId }), z.strictObject({ space: spaceKey, title: pageTitle })]);

export function getPage(options: ConfluenceOptions): ActionDefinition {
  return defineAction({
    type: 'confluence.get-page',
    version: '1.0.0',
    connector: 'confluence',
    codes: REMOTE_CODES,
    category: 'Document',
    displayName: 'Get a page',
    description: 'Reads a page: by pageId, or by space and title.',
    tags: ['confluence', 'wiki', 'page'],
    params,
    outputs: pageAddress.extend({ title: z.string(), version: z.int(), body: z.string() }),
    async run(request, context) {
      const wiki = openWiki(options, context);
      const id = 'pageId' in request ? request.pageId : await idOf(wiki, request);
      const { pageId: found, url, title, version, body } = await wiki.get(id);
      return { outputs: { pageId: found, url, title, version, body } };
    },
  });
}

async function idOf(wiki: Wiki, { space, title }: { space: string; title: string }): Promise<string> {
  const found = await wiki.find({ space, title });
  if (found !== null) return found.pageId;
  throw new TerminalError('RESOURCE_NOT_FOUND', `Confluence has no page "${title}" in the space "${space}"`);
}
