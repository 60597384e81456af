// confluence.update-page: a new version of a page. Omitted fields stay. The version's message carries a mark made from the
// idempotency key, so that a retry recognises an earlier attempt's version (I7). If somebody saves in between, this attempt fails
// and the next one builds on their version.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isTerminalError, RetryableError } from '../../core/error/error.ts';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import type { ConfluenceOptions } from './client.ts';
import { type PageAddress, type PageRevision, pageAddress, pageBody, pageId, pageTitle, type Wiki } from './page.ts';
import { openWiki } from './wiki.ts';

const params = z
  .strictObject({
    pageId,
    title: pageTitle.optional(),
    body: pageBody.optional(),
    /** Shown in the page history. */
    message: z.string().max(200).default('Updated by a workflow'),
  })
  .refine(({ title, body }) => title !== undefined || body !== undefined, 'give a title, a body or both');

export function updatePage(options: ConfluenceOptions): ActionDefinition {
  return defineAction({
    type: 'confluence.update-page',
    version: '1.0.0',
    connector: 'confluence',
    codes: REMOTE_CODES,
    category: 'Document',
    displayName: 'Update a page',
    description: 'Saves a new version of a page.',
    tags: ['confluence', 'wiki', 'page'],
    params,
    outputs: pageAddress.extend({ version: z.int() }),
    async run({ pageId: id, title, body, message }, context) {
      const wiki = openWiki(options, context);
      const current = await wiki.get(id);
      const mark = `[${createHash('sha256').update(context.idempotencyKey).digest('hex').slice(0, 16)}]`;
      if (current.versionMessage.endsWith(mark)) {
        return { outputs: { pageId: id, url: current.url, version: current.version } };
      }
      const version = current.version + 1;
      const { url } = await save(wiki, {
        pageId: id,
        title: title ?? current.title,
        body: body ?? current.body,
        version,
        versionMessage: `${message} ${mark}`,
      });
      return { outputs: { pageId: id, url, version } };
    },
  });
}

async function save(wiki: Wiki, revision: PageRevision): Promise<PageAddress> {
  try {
    return await wiki.update(revision);
  } catch (thrown) {
    if (!isTerminalError(thrown) || thrown.code !== 'RESOURCE_CONFLICT') throw thrown;
    throw new RetryableError(thrown.code, thrown.message);
  }
}
