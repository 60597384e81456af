// Monday's GraphQL API as far as the connector uses it. Queries are parsed, validated against the schema and executed by
// the reference implementation of GraphQL, so a field or an argument that Monday does not have is refused.

import { execute, GraphQLError, parse, validate } from 'graphql';
import { type HttpStandin, headerProblem, httpStandin, type StandinAnswer } from './http-standin.ts';
import {
  filterItems,
  type ItemsQuery,
  mondayFailure,
  type StandinBoard,
  type StandinItem,
  writeColumns,
} from './monday-board.ts';
import { mondaySchema } from './monday-schema.ts';

export interface MondayStandin extends HttpStandin {
  readonly boards: readonly StandinBoard[];
}

export interface MondayStandinOptions {
  readonly token: string;
  readonly boards: readonly StandinBoard[];
  /** No page holds more items, whatever the query asks for. */
  readonly pageItems?: number;
}

/** The user that the token belongs to. */
export const MONDAY_USER = '7001';

export async function mondayStandin({ token, boards, pageItems = 500 }: MondayStandinOptions): Promise<MondayStandin> {
  const root = rootOf(boards, pageItems);
  const server = await httpStandin(async (request) => {
    if (request.method !== 'POST' || request.url.pathname !== '/v2') return { status: 404, body: 'Not found' };
    // As Monday sends it: a list of strings, not of errors.
    if (request.headers.authorization !== token) return { status: 401, body: { errors: ['Not Authenticated'] } };
    const problem = headerProblem(request, { 'content-type': /^application\/json/, 'api-version': /^\d{4}-\d\d$/ });
    if (problem !== null) return { status: 400, body: { error_code: 'BadRequest', error_message: problem } };
    return await answer(root, JSON.parse(request.body));
  });
  return Object.assign(server, { boards });
}

async function answer(
  root: object,
  body: { query?: string; variables?: Record<string, unknown> },
): Promise<StandinAnswer> {
  const document = parse(body.query ?? '');
  const problems = validate(mondaySchema, document);
  if (problems.length > 0) return { status: 200, body: { errors: problems.map(withCode) } };
  const variableValues = body.variables ?? {};
  const result = await execute({ schema: mondaySchema, document, rootValue: root, variableValues });
  const { errors, data } = result;
  if (errors !== undefined)
    return { status: 200, body: { errors: errors.map((error) => error.toJSON()), account_id: 1 } };
  return { status: 200, body: { data, account_id: 1 } };
}

function withCode(error: GraphQLError): unknown {
  return new GraphQLError(error.message, { extensions: { code: 'undefinedField', status_code: 200 } }).toJSON();
}

type Args = Record<string, unknown>;

function rootOf(boards: readonly StandinBoard[], pageItems: number): object {
  const pages = new Map<string, StandinItem[]>();
  const page = (items: StandinItem[], limit: number, board: StandinBoard) => {
    const size = Math.min(limit, pageItems);
    const cursor = items.length > size ? `cursor-${pages.size}-${board.id}` : null;
    if (cursor !== null) pages.set(cursor, items.slice(size));
    return { cursor, items: items.slice(0, size).map((item) => itemView(board, item)) };
  };
  const boardOf = (id: unknown): StandinBoard => {
    const board = boards.find((candidate) => candidate.id === id);
    if (board === undefined) throw mondayFailure('Board not found', 'ResourceNotFoundException', 404);
    return board;
  };
  return {
    me: { id: MONDAY_USER, name: 'Pawl' },
    boards: ({ ids }: { ids: string[] }) =>
      boards.filter(({ id }) => ids.includes(id)).map((board) => boardView(board, page)),
    items: ({ ids }: { ids: string[] }) =>
      boards.flatMap((board) => board.items.filter(({ id }) => ids.includes(id)).map((item) => itemView(board, item))),
    next_items_page: ({ cursor, limit }: { cursor: string; limit: number }) => {
      const items = pages.get(cursor);
      if (items === undefined) throw mondayFailure('The cursor is not valid', 'CursorException');
      return page(items, limit, boardOf(cursor.split('-')[2]));
    },
    create_item: (args: Args) => itemView(boardOf(args.board_id), createItem(boardOf(args.board_id), args)),
    change_multiple_column_values: (args: Args) => {
      const board = boardOf(args.board_id);
      const item = board.items.find(({ id }) => id === args.item_id);
      if (item === undefined) throw mondayFailure('Item not found', 'InvalidItemIdException');
      writeColumns(board, item, args.column_values, args.create_labels_if_missing === true);
      return itemView(board, item);
    },
  };
}

function createItem(board: StandinBoard, args: Args): StandinItem {
  const item: StandinItem = {
    id: `${board.id}${String(board.items.length + 1).padStart(3, '0')}`,
    name: String(args.item_name),
    groupId: typeof args.group_id === 'string' ? args.group_id : null,
    values: {},
    createdAt: new Date().toISOString(),
    creatorId: MONDAY_USER,
  };
  if (args.column_values !== undefined && args.column_values !== null) {
    writeColumns(board, item, args.column_values, args.create_labels_if_missing === true);
  }
  board.items.push(item);
  return item;
}

function boardView(board: StandinBoard, page: (items: StandinItem[], limit: number, board: StandinBoard) => object) {
  return {
    id: board.id,
    name: `Board ${board.id}`,
    columns: board.columns.map(columnView),
    items_page: ({ limit, query_params: query }: { limit: number; query_params?: ItemsQuery }) => {
      if (limit > 500) throw mondayFailure('The limit is 500', 'InvalidArgumentException');
      return page(filterItems(board, query ?? {}), limit, board);
    },
  };
}

function columnView({ id, title, type, labels }: StandinBoard['columns'][number]) {
  return { id, title, type, settings_str: JSON.stringify(labels === undefined ? {} : { labels }) };
}

function itemView(board: StandinBoard, item: StandinItem) {
  return {
    id: item.id,
    name: item.name,
    url: `https://example.monday.com/boards/${board.id}/pulses/${item.id}`,
    created_at: item.createdAt,
    creator_id: item.creatorId,
    group: item.groupId === null ? null : { id: item.groupId, title: `Group ${item.groupId}` },
    column_values: board.columns
      .filter(({ type }) => type !== 'name')
      .map((column) => {
        const text = item.values[column.id] ?? '';
        const isMirror = column.type === 'mirror';
        return {
          __typename: isMirror ? 'MirrorValue' : 'TextValue',
          id: column.id,
          text: isMirror ? null : text,
          display_value: text,
          value: null,
          type: column.type,
          column: columnView(column),
        };
      }),
  };
}
