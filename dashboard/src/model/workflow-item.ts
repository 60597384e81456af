// Workflows as the dashboard knows them: graphs, plans and pipelines tell about themselves in two dialects; here they are one.

import type { StatPointJson } from '../../../src/protocol/statistics.ts';

export interface WorkflowItem {
  /** What people call it: the id of a graph, the name of a pipeline. */
  readonly id: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly format: string;
  readonly status: string;
  readonly isEnabled: boolean;
  readonly version: number | undefined;
  readonly hasDraft: boolean;
  readonly updatedAt: string | undefined;
  /** As it is written: what an editor shows. */
  readonly definition: Readonly<Record<string, unknown>> | undefined;
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
  readonly triggerSchema: object | undefined;
  /** Of the definition that is shown: what the next save compares with. */
  readonly checksum: string | undefined;
  readonly lastExecution:
    | { readonly executionId: string; readonly status: string; readonly createdAt: string }
    | undefined;
  readonly nextFireAt: string | undefined;
  /** The last 24 hours, hour by hour. */
  readonly stats: readonly StatPointJson[];
}

type Fields = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const PIPELINE_FIELDS = [
  'name',
  'description',
  'trigger',
  'cron_expression',
  'timezone',
  'catch_up',
  'max_duration_seconds',
  'tasks',
] as const;

export function workflowItem(given: object): WorkflowItem {
  const fields = given as Fields;
  const isPipeline = typeof fields.name === 'string';
  const definition = isPipeline ? pipelineDefinition(fields) : (fields.definition as WorkflowItem['definition']);
  return {
    id: text(fields.name) ?? String(fields.id),
    title: text(fields.displayName) ?? text(fields.name) ?? String(fields.id),
    description: text(fields.description),
    format: text(fields.format) ?? (isPipeline ? 'pipeline' : 'graph'),
    status: text(fields.status) ?? 'Active',
    isEnabled: (fields.isEnabled ?? fields.enabled) !== false,
    version: number(fields.currentVersion) ?? number(fields.version),
    hasDraft: fields.hasDraft === true,
    updatedAt: text(fields.updatedAt) ?? text(fields.updated_at),
    definition,
    warnings: (fields.warnings as WorkflowItem['warnings'] | undefined) ?? [],
    triggerSchema: definition?.triggerSchema as object | undefined,
    checksum: text(fields.checksum),
    lastExecution: fields.lastExecution as WorkflowItem['lastExecution'],
    nextFireAt: text(fields.nextFireAt),
    stats: (fields.stats as WorkflowItem['stats'] | undefined) ?? [],
  };
}

function pipelineDefinition(fields: Fields): WorkflowItem['definition'] {
  if (fields.tasks === undefined) return undefined;
  return Object.fromEntries(
    PIPELINE_FIELDS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}
