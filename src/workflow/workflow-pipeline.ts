// Pipelines as workflows: live at once, a new version with every change, no drafts. Running executions keep their version.

import { detectFormat } from '../core/definition/compile.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { type Actor, SYSTEM } from '../store/audit-port.ts';
import type { Store } from '../store/port.ts';
import type { NewPipeline, WorkflowRecord } from '../store/workflow-port.ts';
import { invalid } from './workflow-check.ts';
import { pipelineOf, storedDefinition } from './workflow-definition.ts';
import type { WorkflowQueries } from './workflow-queries.ts';
import { deedOf, type Workflows, wrongState } from './workflows.ts';

/** The problem with a cron expression; undefined: none. */
type CronProblem = (cron: string, timezone?: string) => string | undefined;

/** The problems with the verification settings of a webhook. */
type WebhookProblems = (webhook: JsonObject) => readonly Problem[];

export interface PipelinesDeps {
  readonly store: Store;
  readonly workflows: Workflows;
  readonly queries: WorkflowQueries;
  readonly cronProblem: CronProblem;
  readonly webhookProblems: WebhookProblems;
}

export class Pipelines {
  private readonly store: Store;
  private readonly workflows: Workflows;
  private readonly queries: WorkflowQueries;
  private readonly cronProblem: CronProblem;
  private readonly webhookProblems: WebhookProblems;

  constructor({ store, workflows, queries, cronProblem, webhookProblems }: PipelinesDeps) {
    this.store = store;
    this.workflows = workflows;
    this.queries = queries;
    this.cronProblem = cronProblem;
    this.webhookProblems = webhookProblems;
  }

  async create(tenantId: string, definition: Json, by: Actor = SYSTEM): Promise<WorkflowRecord> {
    const pipeline = await this.checked(tenantId, definition);
    const created = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.pipelineCreate(pipeline),
      deed: (made) => (made === null ? null : deedOf('create', made.workflowId, detailsOf(made, pipeline))),
    });
    if (created !== null) return created;
    const existing = await this.queries.find(tenantId, pipeline);
    const advice = existing.format === 'pipeline' ? 'replace it with PUT' : 'choose another name';
    throw new PawlError('WORKFLOW_EXISTS', `a workflow "${pipeline.workflowId}" exists already: ${advice}`);
  }

  /** The name may be omitted. Without `enabled` or `trigger` in the body, these stay as they are. */
  async replace(
    tenantId: string,
    existing: WorkflowRecord,
    definition: Json,
    by: Actor = SYSTEM,
  ): Promise<WorkflowRecord> {
    const { workflowId } = existing;
    requirePipeline(existing, definition);
    const kept = await this.triggerToKeep(tenantId, existing, definition);
    const named = isJsonObject(definition) ? { name: workflowId, ...kept, ...definition } : definition;
    const pipeline = await this.checked(tenantId, named);
    if (pipeline.workflowId !== workflowId) return this.rename(tenantId, existing, pipeline, by);
    const replaced = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.pipelineReplace(pipeline),
      deed: (made) => (made === null ? null : deedOf('replace', workflowId, detailsOf(made, pipeline))),
    });
    if (replaced !== null) return replaced;
    const { status } = await this.queries.find(tenantId, { workflowId });
    throw wrongState(existing, `it is ${status}; reactivate it first`);
  }

  private async rename(tenantId: string, existing: WorkflowRecord, pipeline: NewPipeline, by: Actor) {
    const { workflowId: from } = existing;
    const renamed = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.pipelineRename({ from, pipeline }),
      deed: (done) =>
        done.outcome !== 'renamed'
          ? null
          : deedOf('rename', done.record.workflowId, { ...detailsOf(done.record, pipeline), from }),
    });
    if (renamed.outcome === 'renamed') return renamed.record;
    if (renamed.outcome === 'taken')
      throw new PawlError('WORKFLOW_EXISTS', `a workflow "${pipeline.workflowId}" exists already: choose another name`);
    const { status } = await this.queries.find(tenantId, { workflowId: from });
    throw wrongState(existing, `it is ${status}; reactivate it first`);
  }

  /** A body without `trigger` changes the tasks. Trigger, URL and secret stay as they are. */
  private async triggerToKeep(tenantId: string, existing: WorkflowRecord, definition: Json): Promise<JsonObject> {
    const isSaid = isJsonObject(definition) && definition.trigger !== undefined && definition.trigger !== null;
    if (isSaid || existing.currentVersion === null) return {};
    const current = await this.queries.definition(tenantId, existing, undefined);
    const stored = JSON.parse(current.definition) as JsonObject;
    return Object.fromEntries(TRIGGER_FIELDS.flatMap((name) => (stored[name] == null ? [] : [[name, stored[name]]])));
  }

  private async checked(tenantId: string, definition: Json): Promise<NewPipeline> {
    const checked = await this.workflows.check(tenantId, definition);
    const pipeline = pipelineOf(definition, storedDefinition(tenantId, definition, checked));
    const { webhook } = definition as JsonObject;
    const problems = isJsonObject(webhook ?? null) ? this.webhookProblems(webhook as JsonObject) : [];
    if (problems.length > 0) throw invalid([...problems]);
    const { cronExpression } = pipeline.trigger;
    const { timezone } = pipeline.schedule;
    const message = cronExpression === null ? undefined : this.cronProblem(cronExpression, timezone);
    if (cronExpression !== null && message !== undefined) {
      // If the expression is valid in UTC, the zone is the problem.
      const path = this.cronProblem(cronExpression) === undefined ? '/timezone' : '/cron_expression';
      throw invalid([{ code: 'BAD_CRON', path, message }]);
    }
    return pipeline;
  }
}

const TRIGGER_FIELDS = ['trigger', 'cron_expression', 'timezone', 'catch_up', 'payload', 'webhook'] as const;

/** An unsigned webhook is worth a line in the audit log. */
function detailsOf({ currentVersion: version }: WorkflowRecord, { webhook }: NewPipeline): JsonObject {
  return { version, ...(webhook.allowUnsigned === true ? { allowUnsigned: true } : {}) };
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
