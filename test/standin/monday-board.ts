// The state of the Monday stand-in: boards with columns and items, and the effects of queries and mutations. Column values are
// kept as the text that Monday shows.

import { GraphQLError } from 'graphql';

interface StandinColumn {
  readonly id: string;
  readonly title: string;
  readonly type: string;
  /** The labels of a status column, by index. */
  readonly labels?: Record<string, string>;
}

export interface StandinItem {
  id: string;
  name: string;
  groupId: string | null;
  values: Record<string, string>;
  createdAt: string;
  creatorId: string;
}

export interface StandinBoard {
  readonly id: string;
  readonly columns: readonly StandinColumn[];
  readonly items: StandinItem[];
}

export interface ItemsQuery {
  readonly ids?: readonly string[];
  readonly rules?: readonly { column_id: string; operator?: string; compare_value: unknown }[];
  readonly order_by?: readonly { column_id: string; direction?: string }[];
}

export function mondayFailure(message: string, code: string, status = 200): GraphQLError {
  return new GraphQLError(message, { extensions: { code, status_code: status, error_data: {} } });
}

export function filterItems({ columns, items }: StandinBoard, query: ItemsQuery): StandinItem[] {
  const { ids, rules = [], order_by: orders = [] } = query;
  if (ids !== undefined && ids.length > 100) throw mondayFailure('Too many ids', 'InvalidArgumentException');
  const found = items.filter(
    (item) => (ids === undefined || ids.includes(item.id)) && rules.every((rule) => passes(rule, item, columns)),
  );
  const isNewestFirst = orders.some((order) => order.column_id === '__creation_log__' && order.direction === 'desc');
  return isNewestFirst ? found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)) : found;
}

type Rule = NonNullable<ItemsQuery['rules']>[number];

function passes(
  { column_id: id, operator = 'any_of', compare_value: value }: Rule,
  item: StandinItem,
  columns: readonly StandinColumn[],
): boolean {
  const column = columns.find((candidate) => candidate.id === id);
  if (column === undefined) throw mondayFailure(`Column not found: ${id}`, 'InvalidColumnIdException');
  const text = (column.type === 'name' ? item.name : item.values[id]) ?? '';
  const values = [value].flat();
  if (column.type === 'status' && operator === 'any_of') {
    if (!values.every(Number.isInteger))
      throw mondayFailure('Status filters take label indices', 'InvalidArgumentException');
    return values.some((index) => column.labels?.[String(index)] === text);
  }
  if (['name', 'text', 'long_text'].includes(column.type) && operator === 'contains_text') {
    return values.every((part) => text.toLowerCase().includes(String(part).toLowerCase()));
  }
  throw mondayFailure(`${operator} is not supported for ${column.type}`, 'InvalidArgumentException');
}

/** `column_values` is JSON in a string. */
export function writeColumns(board: StandinBoard, item: StandinItem, json: unknown, createLabels: boolean): void {
  const written = parseColumns(json);
  for (const [id, value] of Object.entries(written)) {
    const column = board.columns.find((candidate) => candidate.id === id);
    if (column === undefined) throw mondayFailure(`This column ID doesn't exist: ${id}`, 'InvalidColumnIdException');
    if (column.type === 'name') item.name = String(value);
    else item.values[id] = value === null ? '' : columnText(column, value, createLabels);
  }
}

function parseColumns(json: unknown): Record<string, unknown> {
  if (typeof json !== 'string') throw mondayFailure('column_values must be a JSON string', 'InvalidArgumentException');
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    throw mondayFailure('Syntax error in JSON input', 'JsonParseException');
  }
}

function columnText({ type, labels = {} }: StandinColumn, value: unknown, createLabels: boolean): string {
  const { label, date, text, checked, labels: chosen } = value as Record<string, unknown>;
  switch (type) {
    case 'status':
      if (typeof label !== 'string') throw invalidValue();
      if (!createLabels && !Object.values(labels).includes(label)) throw invalidValue();
      return label;
    case 'date':
      if (!/^\d{4}-\d\d-\d\d$/.test(String(date))) throw invalidValue();
      return String(date);
    case 'long_text':
      return String(text);
    case 'checkbox':
      return checked === 'true' ? 'v' : '';
    case 'dropdown':
      return (chosen as string[]).join(', ');
    default:
      if (typeof value !== 'string') throw invalidValue();
      return value;
  }
}

const invalidValue = (): GraphQLError =>
  mondayFailure('invalid value, please check our API documentation', 'ColumnValueException');
