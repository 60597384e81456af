// Workflows of every format, in both dialects: definitions with `nodes` are answered as workflows, definitions with `tasks` as
// pipelines, here without their `{ data }` wrapper.

import type {
  DiffJson,
  ExecuteAnswer,
  ExecuteRequest,
  Page,
  PipelineJson,
  PipelineWithTasksJson,
  PublicationJson,
  RunDetailJson,
  RunJson,
  RunStartedJson,
  ValidationJson,
  VersionJson,
  WorkflowJson,
  WorkflowStateJson,
} from '../protocol/answer.ts';
import type { ExecutionJson } from '../protocol/execution.ts';
import type { QueryOf } from '../protocol/page.ts';
import type { workflowListQuery } from '../protocol/workflow.ts';
import { PawlApiError } from './api-error.ts';
import type { GraphDefinition, PipelineDefinition, PlanDefinition, Triggered } from './definition.ts';
import { part, type Transport } from './transport.ts';

export interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

export interface RunListQuery extends PageQuery {
  readonly status?: readonly RunJson['status'][];
}

export interface WorkflowListQuery extends Omit<QueryOf<typeof workflowListQuery>, 'format'> {}

export interface SaveOptions {
  /** The `checksum` of the draft that was read: the save fails with 412 if the draft has changed since. */
  readonly ifMatch?: string;
}

/** A pipeline may be disabled. */
type Published = Omit<PublicationJson, 'status'> & { readonly status: PublicationJson['status'] | 'Disabled' };

interface Data<Item> {
  readonly data: Item;
}

const BASE = '/api/v1/workflows';

export class WorkflowsApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** A graph becomes a draft; a pipeline is live at once. */
  create(definition: PipelineDefinition): Promise<PipelineJson>;
  create(definition: GraphDefinition, options?: SaveOptions): Promise<WorkflowJson>;
  async create(
    definition: GraphDefinition | PipelineDefinition,
    { ifMatch }: SaveOptions = {},
  ): Promise<WorkflowJson | PipelineJson> {
    const headers = ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` };
    return unwrapped(await this.transport.ask('POST', BASE, { body: definition, headers }));
  }

  /** All problems that publishing would report. Nothing is stored. */
  validate(definition: unknown): Promise<ValidationJson> {
    return this.transport.ask('POST', `${BASE}/validate`, { body: definition, repeatable: true });
  }

  /** Replaces the tasks of a pipeline; runs in flight keep theirs. A graph is changed through its draft. */
  async update(id: string, definition: Omit<PipelineDefinition, 'name'>): Promise<PipelineJson> {
    return (await this.transport.ask<Data<PipelineJson>>('PUT', of(id), { body: definition })).data;
  }

  async get(
    id: string,
    query: { readonly version?: number | 'draft' } = {},
  ): Promise<WorkflowJson | PipelineWithTasksJson> {
    return unwrapped(await this.transport.get<WorkflowJson | Data<PipelineWithTasksJson>>(of(id), query));
  }

  list(query: WorkflowListQuery & { readonly format: 'pipeline' }): Promise<Page<PipelineJson>>;
  list(query?: WorkflowListQuery & { readonly format?: 'graph' | 'plan' }): Promise<Page<WorkflowJson>>;
  list(query: WorkflowListQuery & { readonly format?: string } = {}): Promise<Page<WorkflowJson | PipelineJson>> {
    return this.transport.get(BASE, { ...query });
  }

  async setEnabled(id: string, isEnabled: boolean): Promise<WorkflowJson | PipelineJson> {
    return unwrapped(await this.transport.ask('PATCH', of(id), { body: { isEnabled } }));
  }

  /** A draft, or a pipeline; runs in flight go on. */
  async delete(id: string): Promise<void> {
    await this.transport.ask('DELETE', of(id));
  }

  // ── Versions ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Publishes a workflow's draft, or a definition of any format: a graph or plan through a draft, a pipeline at once. The
   * same definition again changes nothing, so a program may publish its workflows at every start.
   */
  async publish(
    workflow: string | GraphDefinition | PipelineDefinition | PlanDefinition,
    { autoActivate = true }: { readonly autoActivate?: boolean } = {},
  ): Promise<Published> {
    if (typeof workflow === 'object' && 'tasks' in workflow) return this.putPipeline(workflow);
    if (typeof workflow === 'object') await this.saveDraft(workflow);
    const id = typeof workflow === 'string' ? workflow : idOf(workflow);
    return this.transport.ask('POST', `${of(id)}/publish`, { query: { autoActivate } });
  }

  /** Opens the draft where there is none, and replaces it where there is one. */
  async saveDraft(definition: GraphDefinition | PlanDefinition): Promise<WorkflowJson> {
    const save = () => this.create(definition as GraphDefinition);
    return save().catch(async (error: unknown) => {
      if (!isRefusal(error, 'WORKFLOW_IMMUTABLE')) throw error;
      await this.openDraft(idOf(definition));
      return save();
    });
  }

  private async putPipeline(definition: PipelineDefinition): Promise<Published> {
    const put = await this.update(definition.name, definition).catch((error: unknown) => {
      if (!isRefusal(error, 'WORKFLOW_NOT_FOUND')) throw error;
      return this.create(definition);
    });
    return { workflowId: put.name, version: put.version!, status: put.enabled ? 'Active' : 'Disabled' };
  }

  archive(id: string): Promise<WorkflowStateJson> {
    return this.transport.ask('POST', `${of(id)}/archive`);
  }

  reactivate(id: string): Promise<WorkflowStateJson> {
    return this.transport.ask('POST', `${of(id)}/reactivate`);
  }

  openDraft(id: string): Promise<WorkflowJson> {
    return this.transport.ask('POST', `${of(id)}/draft`);
  }

  async dropDraft(id: string): Promise<void> {
    await this.transport.ask('DELETE', `${of(id)}/draft`);
  }

  versions(id: string, query: PageQuery = {}): Promise<Page<VersionJson>> {
    return this.transport.get(`${of(id)}/versions`, { ...query });
  }

  diff(
    id: string,
    query: { readonly from?: number | 'draft'; readonly to?: number | 'draft' } = {},
  ): Promise<DiffJson> {
    return this.transport.get(`${of(id)}/diff`, query);
  }

  // ── Running ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The same requestId gives the same execution. Without one, a requestId is generated so that a retry is safe. */
  /** By id, or by a builder's definition, which fixes the type of the trigger. */
  execute(id: string, request?: ExecuteRequest): Promise<ExecuteAnswer>;
  execute<Trigger>(
    definition: GraphDefinition & Triggered<Trigger>,
    request: ExecuteRequest & { readonly trigger: Trigger },
  ): Promise<ExecuteAnswer>;
  execute(workflow: string | GraphDefinition, request: ExecuteRequest = {}): Promise<ExecuteAnswer> {
    const id = typeof workflow === 'string' ? workflow : workflow.id;
    const body = { requestId: crypto.randomUUID() as string, ...request };
    return this.transport.ask('POST', `${of(id)}/execute`, { body, repeatable: true });
  }

  /** The same, answered with the finished execution if it ends within `wait` (e.g. "30s", at most five minutes). */
  executeWithin(
    id: string,
    request: ExecuteRequest,
    { wait, signal }: { readonly wait: string; readonly signal?: AbortSignal | undefined },
  ): Promise<ExecuteAnswer | ExecutionJson> {
    const body = { requestId: crypto.randomUUID() as string, ...request };
    return this.transport.ask('POST', `${of(id)}/execute`, { query: { wait }, body, repeatable: true, signal });
  }

  /** Starts a run with any JSON as its body. */
  async trigger(
    id: string,
    body: unknown = {},
    { idempotencyKey = crypto.randomUUID() }: { readonly idempotencyKey?: string } = {},
  ): Promise<RunStartedJson> {
    const ask = { body, headers: { 'idempotency-key': idempotencyKey }, repeatable: true };
    return (await this.transport.ask<Data<RunStartedJson>>('POST', `${of(id)}/trigger`, ask)).data;
  }

  runs(id: string, query: RunListQuery = {}): Promise<Page<RunJson>> {
    return this.transport.get(`${of(id)}/runs`, { ...query });
  }

  async run(id: string, runId: string, query: { readonly include?: 'body' } = {}): Promise<RunDetailJson> {
    return (await this.transport.get<Data<RunDetailJson>>(`${of(id)}/runs/${part(runId)}`, query)).data;
  }

  async cancelRun(id: string, runId: string): Promise<RunJson> {
    const path = `${of(id)}/runs/${part(runId)}/cancel`;
    return (await this.transport.ask<Data<RunJson>>('POST', path, { repeatable: true })).data;
  }
}

const of = (id: string): string => `${BASE}/${part(id)}`;

function unwrapped<Plain extends object, Wrapped>(answer: Plain | Data<Wrapped>): Plain | Wrapped {
  return 'data' in answer ? (answer as Data<Wrapped>).data : answer;
}

/** The name or id in a definition. */
const idOf = (definition: GraphDefinition | PlanDefinition): string =>
  'metadata' in definition ? definition.metadata.planId : definition.id;

const isRefusal = (error: unknown, code: string): boolean => error instanceof PawlApiError && error.code === code;
