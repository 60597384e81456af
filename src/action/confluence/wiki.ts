// The wiki that the actions use, of either edition of Confluence.

import type { ActionContext } from '../action.ts';
import { type ConfluenceOptions, confluenceBase, connectConfluence } from './client.ts';
import { createCloudWiki } from './cloud.ts';
import { createDataCenterWiki } from './data-center.ts';
import type { Wiki } from './page.ts';

export function openWiki(options: ConfluenceOptions, context: ActionContext): Wiki {
  const base = confluenceBase(options);
  const ask = connectConfluence(base, context);
  return (options.edition ?? editionOf(base)) === 'cloud'
    ? createCloudWiki(ask, base)
    : createDataCenterWiki(ask, base);
}

function editionOf(base: string): 'cloud' | 'data-center' {
  const host = URL.parse(base)?.hostname ?? '';
  return /(^|\.)(atlassian\.net|atlassian\.com|jira\.com)$/.test(host) ? 'cloud' : 'data-center';
}
