// The fields of an execution, each described once: name, type, column, and name in executions_view. The port's types, the
// statements' column lists (store/postgres/column-list.ts), insert parameters and row readers are derived from it.

/** PostgreSQL's column types, and the types of their values in the process. */
interface ValueByType {
  bool: boolean;
  int2: number;
  int4: number;
  int8: number;
  text: string;
  /** Text that is valid JSON: kept as it was written (I15). */
  json: string;
  /** Milliseconds since the epoch. */
  timestamptz: number;
  uuid: string;
}

export type ColumnType = keyof ValueByType;

interface FieldForm {
  readonly type: ColumnType;
  /** Where the column is not named after the field. */
  readonly column?: string;
  /** The name in executions_view, if different; false: the view does not have it. */
  readonly view?: string | false;
  readonly isNullable?: true;
  /** The stored value when the field is omitted. */
  readonly absent?: number | null;
}

/** In the order of the columns of workflow_executions. They never change after the start. */
export const EXECUTION_FIELDS = {
  executionId: { type: 'uuid', column: 'id' },
  tenantId: { type: 'text' },
  workflowId: { type: 'text' },
  version: { type: 'int4', view: 'workflow_version' },
  format: { type: 'text' },
  priority: { type: 'int2' },
  /** The behaviour version that a runner must understand to run the execution. */
  behaviour: { type: 'int2', absent: 1 },
  trigger: { type: 'json' },
  spec: { type: 'json', isNullable: true },
  principal: { type: 'json' },
  correlationId: { type: 'text' },
  requestId: { type: 'text', isNullable: true, view: 'workflow_request_id' },
  parentId: { type: 'uuid', isNullable: true, view: 'parent_execution_id' },
  parentNode: { type: 'text', isNullable: true },
  depth: { type: 'int2' },
  projectId: { type: 'text' },
  environmentId: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  /** W3C trace context of the request that started the execution. */
  traceparent: { type: 'text', isNullable: true, absent: null, view: false },
} as const satisfies Record<string, FieldForm>;

/** The fields that executions_view adds: the state of the execution. */
export const EXECUTION_STATE_FIELDS = {
  status: { type: 'text' },
  startedAt: { type: 'timestamptz', isNullable: true },
  endedAt: { type: 'timestamptz', isNullable: true },
  outputs: { type: 'json', isNullable: true },
  error: { type: 'json', isNullable: true },
  contextSnapshot: { type: 'json', isNullable: true },
  /** The run's name in its engine; null: native, or not handed over yet. */
  engineRunRef: { type: 'json', isNullable: true },
} as const satisfies Record<string, FieldForm>;

type Value<Form extends FieldForm> =
  | ValueByType[Form['type']]
  | (Form extends { readonly isNullable: true } ? null : never);

type MayBeAbsent<Forms> = {
  [Name in keyof Forms]: Forms[Name] extends { readonly absent: unknown } ? Name : never;
}[keyof Forms];

/** An object with these fields; those with a default may be omitted. */
export type Fields<Forms extends Readonly<Record<string, FieldForm>>> = {
  -readonly [Name in Exclude<keyof Forms, MayBeAbsent<Forms>>]: Value<Forms[Name]>;
} & { -readonly [Name in MayBeAbsent<Forms>]?: Value<Forms[Name]> | undefined };
