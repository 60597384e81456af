// The life of a workflow: draft, publish, archive, reactivate, delete. This class decides what is allowed and gives the reason if
// not; the store's row lock makes sure that the change happens once, to the same workflow. Reading is in workflow-queries.ts.

import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { Quotas } from '../quota/quotas.ts';
import { type Actor, type Deed, SYSTEM } from '../store/audit-port.ts';
import type { Store } from '../store/port.ts';
import type { NewDefinition, WorkflowRecord, WorkflowStatus } from '../store/workflow-port.ts';
import { PublishCheck } from './publish-check.ts';
import type { SchemaCheck } from './schema-check.ts';
import { type CheckedDefinition, checkDefinition, type PublishOptions, readCatalog } from './workflow-check.ts';
import { pipelineOf, storedDefinition } from './workflow-definition.ts';
import type { WorkflowQueries } from './workflow-queries.ts';
import { disabled, notActive } from './workflow-start.ts';

export interface WorkflowsDeps {
  readonly store: Store;
  readonly queries: WorkflowQueries;
  readonly quotas: Pick<Quotas, 'checkDefinition'>;
  readonly schemas: SchemaCheck;
  readonly options: PublishOptions;
  readonly fileTriggers: FileTriggers;
}

/** Triggers inside a definition: checking them, and creating, changing and removing them accordingly. */
interface FileTriggers {
  problems(definition: Json): readonly Problem[];
  apply(key: Key, definition: Json, by: Actor): Promise<void>;
}

export interface Publication {
  readonly workflowId: string;
  readonly version: number;
  readonly status: WorkflowStatus;
  readonly warnings: readonly Problem[];
}

export interface SavedDraft {
  readonly workflow: WorkflowRecord;
  readonly created: boolean;
  /** Of the current draft, for `If-Match`. */
  readonly checksum: string;
  /** About the definition itself; `notices` are about its actions. */
  readonly warnings: readonly Problem[];
}

export interface CheckedPlan {
  readonly stored: NewDefinition;
  readonly warnings: readonly Problem[];
}

interface Key {
  readonly tenantId: string;
  readonly workflowId: string;
}

/** A draft that somebody edits constantly is published as it is at one of these looks. */
const PUBLISH_TRIES = 5;

function isScheduled(definition: Json): boolean {
  if (!isJsonObject(definition)) return false;
  const triggers = Array.isArray(definition.triggers) ? definition.triggers : [];
  return definition.trigger === 'cron' || triggers.some((one) => isJsonObject(one) && one.triggerType === 'Schedule');
}

export class Workflows {
  private readonly store: Store;
  private readonly queries: WorkflowQueries;
  private readonly quotas: WorkflowsDeps['quotas'];
  private readonly options: PublishOptions;
  private readonly publishCheck: PublishCheck;
  private readonly fileTriggers: FileTriggers;

  constructor({ store, queries, quotas, schemas, options, fileTriggers }: WorkflowsDeps) {
    this.fileTriggers = fileTriggers;
    this.store = store;
    this.queries = queries;
    this.quotas = quotas;
    this.options = options;
    this.publishCheck = new PublishCheck({ store, schemas, options });
  }

  // ── Drafts ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Creates a Draft or edits an open draft; with `ifChecksum` only the draft with that checksum. */
  async save(tenantId: string, definition: Json, ifChecksum?: string): Promise<SavedDraft> {
    const checked = await this.checkDraft(tenantId, definition);
    const draft = storedDefinition(tenantId, definition, checked);
    const saved = await this.store.draftSave({ ...draft, ifChecksum: ifChecksum ?? null });
    const { workflowId, checksum } = draft;
    if (saved !== null) return { ...saved, checksum, warnings: checked.warnings };
    const existing = await this.queries.find(tenantId, { workflowId });
    if (ifChecksum !== undefined && existing.hasDraft && existing.format === draft.format) {
      throw new PawlError(
        'DRAFT_CHANGED',
        `somebody else has changed the draft of "${workflowId}": load it again and merge`,
      );
    }
    throw new PawlError(
      'WORKFLOW_IMMUTABLE',
      `workflow "${workflowId}" is ${existing.status}: ${adviceFor(existing, draft)}`,
    );
  }

  /** Creates a draft. False: a workflow with this id exists and is unchanged. */
  async create(tenantId: string, definition: Json): Promise<boolean> {
    const checked = await this.checkDraft(tenantId, definition);
    return this.store.draftCreate(storedDefinition(tenantId, definition, checked));
  }

  /** `opened`: false when a draft was already open. */
  async openDraft(tenantId: string, workflow: WorkflowRecord): Promise<{ opened: boolean }> {
    const { workflowId, format } = workflow;
    if (format === 'pipeline') throw wrongState(workflow, 'a pipeline has no drafts: replace it with PUT');
    if (await this.store.draftOpen({ tenantId, workflowId })) return { opened: true };
    const { hasDraft, status } = await this.queries.find(tenantId, { workflowId });
    if (hasDraft) return { opened: false };
    throw wrongState(workflow, `it is ${status}; reactivate it first`);
  }

  async dropDraft(tenantId: string, workflow: WorkflowRecord): Promise<void> {
    const { workflowId } = workflow;
    if (await this.store.draftDrop({ tenantId, workflowId })) return;
    const { status } = await this.queries.find(tenantId, { workflowId });
    if (status === 'Draft') throw wrongState(workflow, 'it was never published, so the draft is all of it: delete it');
    throw new PawlError('WORKFLOW_NOT_FOUND', `workflow "${workflowId}" has no open draft`);
  }

  /** All problems that publishing would report. Nothing is stored. */
  async validate(tenantId: string, definition: Json): Promise<{ ok: boolean; problems: readonly Problem[] }> {
    try {
      const { warnings } = await this.check(tenantId, definition);
      return { ok: true, problems: warnings };
    } catch (error) {
      if (!(error instanceof PawlError) || error.code !== 'WFENG005') throw error;
      return { ok: false, problems: error.details as readonly Problem[] };
    }
  }

  // ── Publishing ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Validates outside the lock, and publishes inside it if the draft is still the validated one. */
  async publish(key: Key, { activate, by = SYSTEM }: { activate: boolean; by?: Actor }): Promise<Publication> {
    for (let attempt = 1; attempt <= PUBLISH_TRIES; attempt++) {
      const published = await this.tryPublish(key, activate, by);
      if (published !== null) return published;
    }
    throw new PawlError('WORKFLOW_STATE', `the draft of "${key.workflowId}" keeps changing; try again`);
  }

  /** null: the draft changed meanwhile. */
  private async tryPublish({ tenantId, workflowId }: Key, activate: boolean, by: Actor): Promise<Publication | null> {
    const draft = await this.store.draftGet({ tenantId, workflowId });
    const definition = draft === null ? null : (JSON.parse(draft.definition) as Json);
    const checked = definition === null ? null : await this.check(tenantId, definition);
    const described =
      checked === null || definition === null
        ? { displayName: '', description: null, checksum: '' }
        : storedDefinition(tenantId, definition, checked);
    const { displayName, description, checksum } = described;
    const wanted = { tenantId, workflowId, checksum, displayName, description, activate };
    const published = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.draftPublish(wanted),
      deed: (made) =>
        made?.outcome === 'published'
          ? deedOf('publish', workflowId, { version: made.version, status: made.status })
          : null,
    });
    if (published === null) throw new PawlError('WORKFLOW_NOT_FOUND', `no workflow "${workflowId}"`);
    switch (published.outcome) {
      case 'changed':
        return null;
      case 'archived':
        throw wrongState({ workflowId }, 'it is Archived; reactivate it first');
      case 'noDraft': {
        // Publishing enables the workflow, even when there is nothing new to publish.
        if (activate && !published.isEnabled) await this.enable({ tenantId, workflowId }, true, by);
        return this.publishedBefore({ tenantId, workflowId }, published, by);
      }
      case 'published':
        if (activate && definition !== null) await this.fileTriggers.apply({ tenantId, workflowId }, definition, by);
        return { workflowId, version: published.version, status: published.status, warnings: checked?.warnings ?? [] };
    }
  }

  private async publishedBefore(
    key: Key,
    { version, status }: Omit<Publication, 'workflowId' | 'warnings'>,
    by: Actor,
  ) {
    const current = await this.store.versionGet({ ...key, version });
    if (current !== null && status === 'Active')
      await this.fileTriggers.apply(key, JSON.parse(current.definition) as Json, by);
    const warnings = current === null ? [] : await this.queries.notices(current.definition);
    return { workflowId: key.workflowId, version, status, warnings };
  }

  /** Makes a definition live at once: for files that are run, and for programs that embed the engine. */
  async publishNow(
    tenantId: string,
    definition: Json,
  ): Promise<Pick<Publication, 'workflowId' | 'version' | 'warnings'>> {
    const checked = await this.check(tenantId, definition);
    const stored = storedDefinition(tenantId, definition, checked);
    const { workflowId } = stored;
    const { warnings } = checked;
    const existing = await this.store.workflowFind({ tenantId, ref: stored });
    if (existing?.status === 'Archived') throw wrongState(existing, 'it is Archived; reactivate it first');
    if (checked.format !== 'pipeline') {
      const { version } = await this.store.workflowPublish(stored);
      await this.fileTriggers.apply({ tenantId, workflowId }, definition, SYSTEM);
      return { workflowId, version, warnings };
    }
    const pipeline = pipelineOf(definition, stored);
    const put = (await this.store.pipelineReplace(pipeline)) ?? (await this.store.pipelineCreate(pipeline));
    if (put === null) throw new PawlError('WORKFLOW_EXISTS', `workflow "${workflowId}" exists and is not a pipeline`);
    return { workflowId, version: put.currentVersion!, warnings };
  }

  /** Checks an execution plan before it runs, as publishing would. */
  async checkPlan(tenantId: string, plan: Json): Promise<CheckedPlan> {
    const checked = await this.check(tenantId, plan);
    return { stored: storedDefinition(tenantId, plan, checked), warnings: checked.warnings };
  }

  /** The published version of a plan, for callers that may run plans but not publish them. */
  async publishedPlan({ stored: { tenantId, workflowId, checksum } }: CheckedPlan): Promise<number> {
    const found = await this.store.planFind({ tenantId, workflowId, checksum });
    if (found === null) {
      const message = `this version of the plan "${workflowId}" is not published yet; publishing it needs the scope \`workflows:manage\``;
      throw new PawlError('FORBIDDEN', message);
    }
    if (found.status === 'Archived') throw notActive(workflowId, 'Archived');
    if (!found.isEnabled) throw disabled(workflowId);
    return found.version;
  }

  /** Returns the version. Starting a plan changes no workflow but the plan's own. */
  async publishPlan({ stored }: CheckedPlan, by: Actor): Promise<number> {
    const { tenantId, workflowId } = stored;
    const published = await this.store.audited({
      tenantId,
      by,
      work: (store) => store.planPublish(stored),
      deed: (made) =>
        made.outcome === 'published'
          ? deedOf('publish', workflowId, { version: made.version, status: 'Active' })
          : null,
    });
    switch (published.outcome) {
      case 'published':
      case 'current':
        return published.version;
      case 'otherFormat':
        throw notAPlan(workflowId, published.format);
      case 'archived':
        throw notActive(workflowId, 'Archived');
      case 'disabled':
        throw disabled(workflowId);
    }
  }

  async check(tenantId: string, definition: Json): Promise<CheckedDefinition> {
    const catalog = await readCatalog(this.store);
    const found = await this.publishCheck.problems(tenantId, definition, catalog);
    const more = [...found, ...this.fileTriggers.problems(definition)];
    const checked = await checkDefinition(definition, { catalog, options: this.options, more });
    return this.affordable(tenantId, checked, isScheduled(definition));
  }

  private async checkDraft(tenantId: string, definition: Json): Promise<CheckedDefinition> {
    const more = await this.publishCheck.triggerSchemaProblems(tenantId, definition);
    const options = { ...this.options, validateParameterTemplates: false };
    return this.affordable(tenantId, await checkDefinition(definition, { options, more }));
  }

  private async affordable(tenantId: string, checked: CheckedDefinition, cron = false): Promise<CheckedDefinition> {
    await this.quotas.checkDefinition(tenantId, { tasks: checked.plan.nodes.length, cron });
    return checked;
  }

  // ── The rest of its life ──────────────────────────────────────────────────────────────────────────────────────────

  async archive(tenantId: string, workflow: WorkflowRecord, by: Actor = SYSTEM): Promise<void> {
    const { workflowId } = workflow;
    const archive = (store: Store) => store.workflowArchive({ tenantId, workflowId });
    if (await this.change(tenantId, by, deedOf('archive', workflowId), archive)) return;
    const { status } = await this.queries.find(tenantId, workflow);
    if (status === 'Draft') throw wrongState(workflow, 'it is a Draft: delete it, or publish it first');
  }

  async reactivate(tenantId: string, workflow: WorkflowRecord, by: Actor = SYSTEM): Promise<void> {
    const { workflowId } = workflow;
    const reactivate = (store: Store) => store.workflowReactivate({ tenantId, workflowId });
    if (await this.change(tenantId, by, deedOf('reactivate', workflowId), reactivate)) return;
    const { status } = await this.queries.find(tenantId, workflow);
    if (status === 'Draft') throw wrongState(workflow, 'it is a Draft: publish it');
  }

  async setEnabled(tenantId: string, workflow: WorkflowRecord, isEnabled: boolean, by: Actor = SYSTEM): Promise<void> {
    const { workflowId } = workflow;
    if (await this.enable({ tenantId, workflowId }, isEnabled, by)) return;
    const { status } = await this.queries.find(tenantId, workflow);
    if (isEnabled) throw wrongState(workflow, `it is ${status}; reactivate it instead`);
  }

  private enable(key: Key, isEnabled: boolean, by: Actor): Promise<boolean> {
    const enable = (store: Store) => store.workflowEnable({ ...key, isEnabled });
    return this.change(key.tenantId, by, deedOf(isEnabled ? 'enable' : 'disable', key.workflowId), enable);
  }

  /** Deletes a Draft, or a pipeline of any status. */
  async delete(tenantId: string, workflow: WorkflowRecord, by: Actor = SYSTEM): Promise<void> {
    const { workflowId } = workflow;
    const remove = (store: Store) => store.workflowDelete({ tenantId, workflowId });
    if (await this.change(tenantId, by, deedOf('delete', workflowId), remove)) return;
    const { status } = await this.queries.find(tenantId, workflow);
    const advice = status === 'Active' ? ': archive it instead' : '';
    throw wrongState(workflow, `it is ${status}, and only a Draft can be deleted${advice}`);
  }

  /** Returns whether it happened; only then is it audited. */
  private change(tenantId: string, by: Actor, deed: Deed, work: (store: Store) => Promise<boolean>): Promise<boolean> {
    return this.store.audited({ tenantId, by, work, deed: (happened) => (happened ? deed : null) });
  }
}

export const deedOf = (action: string, workflowId: string, details?: JsonObject): Deed => ({
  action: `workflow.${action}`,
  target: `workflow/${workflowId}`,
  ...(details === undefined ? {} : { details }),
});

function adviceFor({ workflowId, format, status }: WorkflowRecord, draft: { readonly format: string }): string {
  if (format !== draft.format) return `it is a ${format}; choose another id`;
  if (status === 'Archived') return 'reactivate it, then open a draft';
  return `open a draft with POST /api/v1/workflows/${workflowId}/draft first`;
}

function notAPlan(workflowId: string, format: string): PawlError {
  const message = `workflow "${workflowId}" is a ${format}, not an execution plan: choose another planId`;
  return new PawlError('WORKFLOW_EXISTS', message);
}

export function wrongState({ workflowId }: Pick<WorkflowRecord, 'workflowId'>, why: string): PawlError {
  return new PawlError('WORKFLOW_STATE', `workflow "${workflowId}": ${why}`);
}
