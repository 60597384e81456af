// monday.get-items: the items of a board that pass a filter, with their columns by title.

import { z } from 'zod';
import { type ActionDefinition, defineAction } from '../action.ts';
import { REMOTE_CODES } from '../remote-failure.ts';
import { boardNotFound, columnsOf } from './board.ts';
import { type AskMonday, connectMonday, type MondayOptions } from './client.ts';
import { type CompiledFilter, compileFilter, filterSchema, type ItemsQuery } from './filter.ts';
import { ITEM_FIELDS, type Item, item, numericId, rawItem, readItem } from './item.ts';

export function getItems(options: MondayOptions): ActionDefinition {
  return defineAction({
    type: 'monday.get-items',
    version: '1.0.0',
    connector: 'monday',
    codes: REMOTE_CODES,
    category: 'Work management',
    displayName: 'Get items',
    description: 'Reads the items of a board, with their columns by title, optionally filtered.',
    tags: ['monday', 'board', 'item'],
    params: z.strictObject({
      boardId: numericId,
      filter: filterSchema.optional(),
      limit: z.int().min(1).max(5_000).default(500),
    }),
    outputs: z.object({ items: z.array(item) }),
    async run({ boardId, filter, limit }, context) {
      const monday = await connectMonday(options, context);
      const rules = filter?.rules ?? [];
      const compiled = compileFilter(rules, rules.length === 0 ? [] : await columnsOf(monday, boardId));
      return { outputs: { items: await findItems(monday, boardId, compiled, limit) } };
    },
  });
}

const PAGE_ITEMS = 500;

const page = z.object({ cursor: z.string().nullable(), items: z.array(rawItem) });
type Page = z.output<typeof page>;

async function findItems(monday: AskMonday, boardId: string, filter: CompiledFilter, limit: number): Promise<Item[]> {
  const found: Item[] = [];
  let next: Page | null = await firstPage(monday, boardId, filter.query);
  while (next !== null) {
    found.push(...next.items.map(readItem).filter(filter.accepts));
    if (found.length >= limit || next.cursor === null) break;
    next = await nextPage(monday, next.cursor);
  }
  return found.slice(0, limit);
}

const firstAnswer = z.object({ boards: z.array(z.object({ items_page: page })) });

async function firstPage(monday: AskMonday, boardId: string, filter: ItemsQuery): Promise<Page> {
  const query = `query ($boardIds: [ID!], $limit: Int!, $filter: ItemsQuery) {
    boards(ids: $boardIds) {
      items_page(limit: $limit, query_params: $filter) { cursor items { ${ITEM_FIELDS} } }
    }
  }`;
  const { boards } = await monday(firstAnswer, query, { boardIds: [boardId], limit: PAGE_ITEMS, filter });
  const [board] = boards;
  if (board === undefined) throw boardNotFound(boardId);
  return board.items_page;
}

const nextAnswer = z.object({ next_items_page: page });

async function nextPage(monday: AskMonday, cursor: string): Promise<Page> {
  const query = `query ($cursor: String!, $limit: Int!) {
    next_items_page(cursor: $cursor, limit: $limit) { cursor items { ${ITEM_FIELDS} } }
  }`;
  const answer = await monday(nextAnswer, query, { cursor, limit: PAGE_ITEMS });
  return answer.next_items_page;
}
