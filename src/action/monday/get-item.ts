// monday.get-item: one item by its id.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import { connectMonday, type MondayOptions } from './client.ts';
import { ITEM_FIELDS, item, numericId, rawItem, readItem } from './item.ts';

const answer = z.object({ items: z.array(rawItem) });

export function getItem(options: MondayOptions): ActionDefinition {
  return defineAction({
    type: 'monday.get-item',
    version: '1.0.0',
    connector: 'monday',
    codes: REMOTE_CODES,
    category: 'Work management',
    displayName: 'Get an item',
    description: 'Reads one item, with its columns by title.',
    tags: ['monday', 'item'],
    params: z.strictObject({ itemId: numericId }),
    outputs: z.object({ item }),
    async run({ itemId }, context) {
      const monday = await connectMonday(options, context);
      const query = `query ($itemIds: [ID!]) { items(ids: $itemIds) { ${ITEM_FIELDS} } }`;
      const { items } = await monday(answer, query, { itemIds: [itemId] });
      const [found] = items;
      if (found === undefined) {
        throw new TerminalError('RESOURCE_NOT_FOUND', `Monday has no item ${itemId}, or the token may not see it`);
      }
      return { outputs: { item: readItem(found) } };
    },
  });
}
