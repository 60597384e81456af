// monday.create-item: adds an item to a board. Monday has no idempotency keys, so a retry first looks for an item of this name
// that our credential created recently and that belongs to no other execution (I7).

import { z } from 'zod';
import { type ActionContext, type ActionDefinition, defineAction } from '../action.ts';
import { isFromEarlierAttempt } from '../earlier-attempt.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import { columnsOf } from './board.ts';
import { type AskMonday, connectMonday, type MondayOptions } from './client.ts';
import { columnValues, encodeColumnValues } from './column-value.ts';
import { numericId } from './item.ts';

const params = z.strictObject({
  boardId: numericId,
  name: z.string().min(1).max(255),
  groupId: z.string().min(1).optional(),
  /** By title: { "Status": "In Progress" }. */
  columns: columnValues.optional(),
  createLabelsIfMissing: z.boolean().default(false),
});
type Params = z.output<typeof params>;

const created = z.object({ id: z.string(), url: z.string() });

export function createItem(options: MondayOptions): ActionDefinition {
  return defineAction({
    type: 'monday.create-item',
    version: '1.0.0',
    connector: 'monday',
    codes: REMOTE_CODES,
    category: 'Work management',
    displayName: 'Create an item',
    description: 'Adds an item to a board, with values for its columns by title.',
    tags: ['monday', 'item'],
    params,
    outputs: z.object({ itemId: z.string(), url: z.string() }),
    async run(request, context) {
      const monday = await connectMonday(options, context);
      const earlier = context.mayHaveRun ? await earlierItem(monday, request, context) : null;
      const { id, url } = earlier ?? (await create(monday, request));
      return { outputs: { itemId: id, url }, resourceLinks: [{ ...linkTo(id), url }] };
    },
  });
}

const linkTo = (resourceId: string) => ({ system: 'monday', resourceType: 'item', resourceId });

const createAnswer = z.object({ create_item: created });

async function create(monday: AskMonday, request: Params): Promise<z.output<typeof created>> {
  const { boardId, name, groupId, columns, createLabelsIfMissing } = request;
  const values = columns === undefined ? undefined : encodeColumnValues(columns, await columnsOf(monday, boardId));
  const mutation = `mutation ($boardId: ID!, $name: String!, $groupId: String, $values: JSON, $createLabels: Boolean) {
    create_item(
      board_id: $boardId, item_name: $name, group_id: $groupId,
      column_values: $values, create_labels_if_missing: $createLabels
    ) { id url }
  }`;
  const variables = { boardId, name, groupId, values, createLabels: createLabelsIfMissing };
  return (await monday(createAnswer, mutation, variables)).create_item;
}

const candidate = created.extend({ name: z.string(), created_at: z.string(), creator_id: z.string() });
const lookUpAnswer = z.object({
  me: z.object({ id: z.string() }),
  boards: z.array(z.object({ items_page: z.object({ items: z.array(candidate) }) })),
});

async function earlierItem(monday: AskMonday, { boardId, name }: Params, context: ActionContext) {
  const query = `query ($boardIds: [ID!], $filter: ItemsQuery) {
    me { id }
    boards(ids: $boardIds) {
      items_page(limit: 100, query_params: $filter) { items { id name url created_at creator_id } }
    }
  }`;
  const filter = {
    rules: [{ column_id: 'name', operator: 'contains_text', compare_value: [name] }],
    order_by: [{ column_id: '__creation_log__', direction: 'desc' }],
  };
  const { me, boards } = await monday(lookUpAnswer, query, { boardIds: [boardId], filter });
  for (const found of boards[0]?.items_page.items ?? []) {
    const { id, created_at: createdAt, creator_id: creatorId } = found;
    const isMadeByUs = found.name === name && creatorId === me.id;
    if (await isFromEarlierAttempt({ link: linkTo(id), isMadeByUs, createdAt }, context)) return found;
  }
  return null;
}
