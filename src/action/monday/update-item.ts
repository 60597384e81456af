// monday.update-item: changes the name and columns of an item. Idempotent.

import { z } from 'zod';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import { columnsOf } from './board.ts';
import { connectMonday, type MondayOptions } from './client.ts';
import { columnValues, encodeColumnValues } from './column-value.ts';
import { numericId } from './item.ts';

const answer = z.object({ change_multiple_column_values: z.object({ id: z.string(), url: z.string() }) });

export function updateItem(options: MondayOptions): ActionDefinition {
  return defineAction({
    type: 'monday.update-item',
    version: '1.0.0',
    connector: 'monday',
    codes: REMOTE_CODES,
    category: 'Work management',
    displayName: 'Update an item',
    description: 'Changes columns of an item, by title; "Name" is its name.',
    tags: ['monday', 'item'],
    params: z.strictObject({
      boardId: numericId,
      itemId: numericId,
      /** By title: { "Status": "Done" }; null clears a column. */
      columns: columnValues.refine((columns) => Object.keys(columns).length > 0, 'name at least one column'),
      createLabelsIfMissing: z.boolean().default(false),
    }),
    outputs: z.object({ itemId: z.string(), url: z.string() }),
    async run({ boardId, itemId, columns, createLabelsIfMissing }, context) {
      const monday = await connectMonday(options, context);
      const values = encodeColumnValues(columns, await columnsOf(monday, boardId));
      const mutation = `mutation ($boardId: ID!, $itemId: ID!, $values: JSON!, $createLabels: Boolean) {
        change_multiple_column_values(
          board_id: $boardId, item_id: $itemId, column_values: $values, create_labels_if_missing: $createLabels
        ) { id url }
      }`;
      const variables = { boardId, itemId, values, createLabels: createLabelsIfMissing };
      const { id, url } = (await monday(answer, mutation, variables)).change_multiple_column_values;
      return { outputs: { itemId: id, url } };
    },
  });
}
