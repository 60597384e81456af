// confluence.create-page: adds a page to a space. Titles are unique within a space, so a retry looks for the title first and
// takes the page if an earlier attempt created it (I7). Somebody else's page is a conflict, never overwritten.

import { z } from 'zod';
import { type ActionContext, type ActionDefinition, defineAction } from '../action.ts';
import { isFromEarlierAttempt } from '../earlier-attempt.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import type { ConfluenceOptions } from './client.ts';
import { type PageAddress, pageAddress, pageBody, pageId, pageTitle, spaceKey, type Wiki } from './page.ts';
import { openWiki } from './wiki.ts';

const params = z.strictObject({
  space: spaceKey,
  title: pageTitle,
  body: pageBody.default(''),
  parentId: pageId.optional(),
});

export function createPage(options: ConfluenceOptions): ActionDefinition {
  return defineAction({
    type: 'confluence.create-page',
    version: '1.0.0',
    connector: 'confluence',
    codes: REMOTE_CODES,
    category: 'Document',
    displayName: 'Create a page',
    description: 'Adds a page to a space, optionally below another page.',
    tags: ['confluence', 'wiki', 'page'],
    params,
    outputs: pageAddress,
    async run({ space, title, body, parentId }, context) {
      const wiki = openWiki(options, context);
      const earlier = context.mayHaveRun ? await earlierPage(wiki, { space, title }, context) : null;
      const { pageId: id, url } = earlier ?? (await wiki.create({ space, title, body, parentId }));
      return { outputs: { pageId: id, url }, resourceLinks: [{ ...linkTo(id), url }] };
    },
  });
}

const linkTo = (resourceId: string) => ({ system: 'confluence', resourceType: 'page', resourceId });

async function earlierPage(
  wiki: Wiki,
  place: { space: string; title: string },
  context: ActionContext,
): Promise<PageAddress | null> {
  const found = await wiki.find(place);
  if (found === null) return null;
  const { createdAt, createdBy } = found;
  const isMadeByUs = createdBy === (await wiki.me());
  const isOurs = await isFromEarlierAttempt({ link: linkTo(found.pageId), isMadeByUs, createdAt }, context);
  return isOurs ? found : null;
}
