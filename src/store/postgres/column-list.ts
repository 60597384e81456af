// Named column lists for statements: `@{execution}` stands for every column of an execution, `@{children: execution}` for its
// arrays as parameters (statement.ts). A list maps the fields of a row to columns, in column order.

import { EXECUTION_FIELDS, EXECUTION_STATE_FIELDS } from '../execution-fields.ts';
import type {
  ActionLogRow,
  AttemptRow,
  CommitBatch,
  NewExecution,
  NewMessage,
  OutcomeRow,
  ResourceLinkRow,
} from '../port.ts';
import type { Column, ElementType } from './array-parameter.ts';

export interface ListedColumn<Row = never> extends Column<Row> {
  readonly name: string;
  /** The name under which it is read, if that is another one. */
  readonly alias?: string;
  /** How it is read, if not as it is. */
  readonly read?: (column: string) => string;
}

export type ColumnList<Row = never> = readonly ListedColumn<Row>[];

/** `text` cannot hold U+0000, which is harmless in texts for people. Keys are never changed: there it is an error. */
export const readable = (value: string): string => value.replaceAll('\u0000', '\uFFFD');
const readableOrNull = (value: string | null): string | null => (value === null ? null : readable(value));

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const executionEntries = Object.entries(EXECUTION_FIELDS) as [
  keyof typeof EXECUTION_FIELDS,
  { type: ElementType; column?: string; view?: string | false; absent?: number | null },
][];

export const EXECUTION: ColumnList<NewExecution> = executionEntries.map(([field, { type, column, absent }]) => ({
  name: column ?? snakeCase(field),
  type,
  value: absent === undefined ? (row) => row[field] as string : (row) => row[field] ?? absent,
}));

/** The list of a table whose columns are named after the fields of its rows, unless a name is given. */
const columns = <Row>(
  forms: { readonly [Field in keyof Row & string]?: ElementType | readonly [ElementType, string] },
  changes: { readonly [Field in keyof Row & string]?: (row: Row) => string | null } = {},
): ColumnList<Row> =>
  (Object.entries(forms) as [keyof Row & string, ElementType | readonly [ElementType, string]][]).map(
    ([field, form]) => {
      const [type, name] = typeof form === 'string' ? [form, snakeCase(field)] : form;
      return { name, type, value: changes[field] ?? ((row: Row) => row[field] as string | null) };
    },
  );

export const EVENT = columns<CommitBatch['events'][number]>({
  executionId: 'uuid',
  seq: 'int4',
  at: 'timestamptz',
  facts: 'json',
  inputs: 'json',
});

export const ATTEMPT = columns<AttemptRow>({
  executionId: 'uuid',
  nodeId: 'text',
  attempt: 'int2',
  actionType: 'text',
  status: 'text',
  startedSeq: 'int4',
  outputs: 'json',
  error: 'json',
  startedAt: 'timestamptz',
  endedAt: 'timestamptz',
  waitedMs: 'int4',
});

export const OUTCOME = columns<OutcomeRow>({
  executionId: 'uuid',
  tenantId: 'text',
  status: 'text',
  outputs: 'json',
  error: 'json',
  contextSnapshot: 'json',
  startedAt: 'timestamptz',
  endedAt: 'timestamptz',
});

export const MESSAGE = columns<NewMessage>({
  id: 'uuid',
  executionId: 'uuid',
  kind: 'text',
  key: 'text',
  body: 'json',
});

export const LINK = columns<ResourceLinkRow>(
  {
    tenantId: 'text',
    system: ['text', 'system_name'],
    resourceType: 'text',
    resourceId: 'text',
    executionId: 'uuid',
    nodeId: 'text',
    attempt: 'int2',
    url: ['text', 'external_url'],
  },
  { url: ({ url }) => readableOrNull(url) },
);

export const LOG = columns<ActionLogRow>(
  {
    executionId: 'uuid',
    nodeId: 'text',
    attempt: 'int2',
    at: 'timestamptz',
    level: 'text',
    message: 'text',
    data: 'json',
  },
  { message: ({ message }) => readable(message) },
);

/** How executions_view is read: under the names of the fields. */
const EXECUTION_VIEW: ColumnList = [
  ...executionEntries.flatMap(([field, { type, column, view }]) =>
    view === false ? [] : [viewed(field, type, view ?? column)],
  ),
  ...Object.entries(EXECUTION_STATE_FIELDS).map(([field, { type }]) => viewed(field, type)),
  { name: 'driver', type: 'text', value: () => null, alias: 'driver', read: (driver) => `nullif(${driver}, 'native')` },
];

function viewed(field: string, type: ElementType, column = snakeCase(field)): ListedColumn {
  const alias = snakeCase(field);
  return { name: column, type, value: () => null, ...(alias === column ? {} : { alias }) };
}

/** By the names that statements use. */
export const COLUMN_LISTS: Readonly<Record<string, ColumnList>> = {
  execution: EXECUTION,
  execution_view: EXECUTION_VIEW,
  event: EVENT,
  attempt: ATTEMPT,
  outcome: OUTCOME,
  message: MESSAGE,
  link: LINK,
  log: LOG,
} satisfies Record<string, ColumnList<never>>;
