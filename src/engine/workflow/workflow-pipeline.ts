// Pipelines (002) as workflows: live at once, a new version with every change, no drafts. Executions in flight keep the
// version they were started with.

import { detectFormat } from '../../core/definition/compile.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
import { type Actor, SYSTEM } from '../../store/audit-port.ts';
import type { Store } from '../../store/port.ts';
import type { NewPipeline, WorkflowRecord } from '../../store/workflow-port.ts';
import { invalid } from './workflow-check.ts';
import { pipelineOf, storedDefinition } from './workflow-definition.ts';
import type { WorkflowQueries } from './workflow-queries.ts';
import { deedOf, type Workflows, wrongState } from './workflows.ts';

/** What is wrong with a cron expression; undefined: nothing. */
type CronProblem = (cron: string, timezone?: string) => string | undefined;

export interface PipelinesDeps {
  readonly store: Store;
  readonly workflows: Workflows;
  readonly queries: WorkflowQueries;
  readonly cronProblem: CronProblem;
}

export class Pipelines {
  private readonly store: Store;
  private readonly workflows: Workflows;
  private readonly queries: WorkflowQueries;
  private readonly cronProblem: CronProblem;

  constructor({ store, workflows, queries, cronProblem }: PipelinesDeps) {
    this.store = store;
    this.workflows = workflows;
    this.queries = queries;
    this.cronProblem = cronProblem;
  }

  async create(tenantId: string, definition: Json, by: Actor = SYSTEM): Promise<WorkflowRecord> {
    const pipeline = await this.checked(tenantId, definition);
    const created = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.pipelineCreate(pipeline),
      deed: (made) => (made === null ? null : deedOf('create', made.workflowId, { version: made.currentVersion })),
    });
    if (created !== null) return created;
    const existing = await this.queries.find(tenantId, pipeline);
    const advice = existing.format === 'pipeline' ? 'replace it with PUT' : 'choose another name';
    throw new PawlError('WORKFLOW_EXISTS', `a workflow "${pipeline.workflowId}" exists already: ${advice}`);
  }

  /** The name may be left out; what the body does not say about `enabled` stays as it is. */
  async replace(
    tenantId: string,
    existing: WorkflowRecord,
    definition: Json,
    by: Actor = SYSTEM,
  ): Promise<WorkflowRecord> {
    const { workflowId } = existing;
    requirePipeline(existing, definition);
    const named = isJsonObject(definition) ? { name: workflowId, ...definition } : definition;
    if (isJsonObject(named) && named.name !== workflowId) {
      const message = `the name is "${workflowId}" and cannot change`;
      throw invalid([{ code: 'NAME_CHANGED', path: '/name', message, suggestion: 'create another pipeline' }]);
    }
    const pipeline = await this.checked(tenantId, named);
    const replaced = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.pipelineReplace(pipeline),
      deed: (made) => (made === null ? null : deedOf('replace', workflowId, { version: made.currentVersion })),
    });
    if (replaced !== null) return replaced;
    const { status } = await this.queries.find(tenantId, { workflowId });
    throw wrongState(existing, `it is ${status}; reactivate it first`);
  }

  private async checked(tenantId: string, definition: Json): Promise<NewPipeline> {
    const checked = await this.workflows.check(tenantId, definition);
    const pipeline = pipelineOf(definition, storedDefinition(tenantId, definition, checked));
    const { cronExpression } = pipeline.trigger;
    const { timezone } = pipeline.schedule;
    const message = cronExpression === null ? undefined : this.cronProblem(cronExpression, timezone);
    if (cronExpression !== null && message !== undefined) {
      // What is good in UTC is at fault for its zone.
      const path = this.cronProblem(cronExpression) === undefined ? '/timezone' : '/cron_expression';
      throw invalid([{ code: 'BAD_CRON', path, message }]);
    }
    return pipeline;
  }
}

function requirePipeline({ workflowId }: WorkflowRecord, definition: Json): void {
  const format = detectFormat(definition);
  if (format === 'pipeline') return;
  const message =
    format === null
      ? `"${workflowId}" is a pipeline: \`tasks\` is missing`
      : `"${workflowId}" is a pipeline, and this is a ${format}`;
  const suggestion = 'send `tasks`, or create another workflow with POST /api/v1/workflows';
  throw invalid([{ code: 'NOT_A_PIPELINE', path: '', message, suggestion }]);
}
