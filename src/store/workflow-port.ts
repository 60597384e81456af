// The part of the storage port that people and programs use, never a running execution: the life of a workflow (drafts,
// publishing, archiving, deleting), pipelines, and lists. Each method is one transaction under the workflow's row lock. An
// impossible request is a value, so that the caller can explain it. Everything is within one tenant (S1).

import type { Json, JsonObject } from '../core/json/json.ts';
import type { JsonText, Timestamp } from './port.ts';

export type WorkflowStatus = 'Draft' | 'Active' | 'Archived';

/** By name, or by the identity that survives the reuse of a name. */
export type WorkflowRef = { readonly workflowId: string } | { readonly uid: string };

export interface WorkflowRecord {
  uid: string;
  workflowId: string;
  displayName: string;
  description: string | null;
  format: string;
  status: WorkflowStatus;
  isEnabled: boolean;
  currentVersion: number | null;
  hasDraft: boolean;
  /** Of a pipeline. */
  pipeline: { trigger: PipelineTrigger; taskCount: number; webhookTriggerId: string | null } | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface PipelineTrigger {
  type: 'api' | 'cron' | 'webhook';
  cronExpression: string | null;
}

export interface NewDefinition {
  tenantId: string;
  workflowId: string;
  displayName: string;
  description: string | null;
  format: string;
  definition: JsonText;
  checksum: string;
}

export type PipelineRename =
  | { readonly outcome: 'renamed'; readonly record: WorkflowRecord }
  /** Another workflow has the new name. */
  | { readonly outcome: 'taken' }
  /** There is no such pipeline, or it is Archived. */
  | { readonly outcome: 'refused' };

export interface NewPipeline extends NewDefinition {
  trigger: PipelineTrigger;
  /** Of a cron trigger, besides its expression: what it says about time zone and missed slots. */
  schedule: { readonly timezone?: string; readonly catchUp?: string; readonly payload?: Json };
  /** Of a webhook trigger: its settings, and a secret that is given; null: the one that it has stays. */
  webhook: JsonObject;
  webhookSecret: string | null;
  taskCount: number;
  /** null: as it is, or enabled if it is new. */
  isEnabled: boolean | null;
}

export type DraftPublication =
  | {
      readonly outcome: 'published';
      readonly version: number;
      readonly created: boolean;
      readonly status: WorkflowStatus;
    }
  /** There was no draft to publish: this is the state of the workflow. */
  | {
      readonly outcome: 'noDraft';
      readonly version: number;
      readonly status: WorkflowStatus;
      readonly isEnabled: boolean;
    }
  | { readonly outcome: 'archived' }
  /** The draft is not the checked one. */
  | { readonly outcome: 'changed' };

export type PlanPublication =
  | { readonly outcome: 'published'; readonly version: number }
  // Otherwise nothing was written.
  | { readonly outcome: 'current'; readonly version: number }
  | { readonly outcome: 'otherFormat'; readonly format: string }
  | { readonly outcome: 'archived' }
  | { readonly outcome: 'disabled' };

export interface VersionRow {
  version: number;
  format: string;
  definition: JsonText;
  checksum: string;
  createdAt: Timestamp;
}

export interface WorkflowFilter {
  status: WorkflowStatus | null;
  isEnabled: boolean | null;
  format: string | null;
  /** In the id, the display name or the description, whatever the case. */
  search: string | null;
}

export interface WorkflowActivity {
  workflowId: string;
  lastExecution: { executionId: string; status: string; createdAt: Timestamp } | null;
  nextFireAt: Timestamp | null;
}

export interface WorkflowStanding {
  status: WorkflowStatus | null;
  isEnabled: boolean;
  /** That the version which was asked for is published. */
  hasVersion: boolean;
}

/** The identity of a workflow, which its runs keep. */
export type WorkflowIdentity = Pick<WorkflowRecord, 'uid' | 'workflowId'>;

export interface RunRow {
  executionId: string;
  version: number;
  status: string;
  createdAt: Timestamp;
  endedAt: Timestamp | null;
  /** Of a pipeline that has succeeded. */
  failedNodes: number;
}

export interface WorkflowRunStore {
  /** Also of a deleted workflow: by its uid always, by its name until another takes it. */
  workflowIdentity(params: { tenantId: string; ref: WorkflowRef }): Promise<WorkflowIdentity | null>;
  /** The uid of the workflow that a version belongs to, deleted or not. null: there is no such version. */
  versionOwner(params: { tenantId: string; workflowId: string; version: number }): Promise<string | null>;
  /** Executions of this workflow, newest first, those older than `before`; not those of another owner of its name. */
  workflowRuns(params: {
    tenantId: string;
    workflow: WorkflowIdentity;
    before: string | null;
    /** null: whatever their status. */
    statuses: readonly string[] | null;
    limit: number;
  }): Promise<RunRow[]>;
}

export interface WorkflowLifeStore extends WorkflowRunStore {
  workflowFind(params: { tenantId: string; ref: WorkflowRef }): Promise<WorkflowRecord | null>;
  /** The newest execution of each workflow, and when its next schedule is due. */
  workflowActivity(params: { tenantId: string; workflowIds: readonly string[] }): Promise<WorkflowActivity[]>;
  /** Live executions by version, up to 10,000 in all. */
  versionsLive(params: { tenantId: string; workflowId: string }): Promise<ReadonlyMap<number, number>>;
  /** By id, those after `afterId`. */
  workflowList(
    params: WorkflowFilter & { tenantId: string; afterId: string; limit: number },
  ): Promise<WorkflowRecord[]>;

  /**
   * Creates a Draft or overwrites an open draft. null: the workflow exists and has no draft, one of another format, or not the one
   * with `ifChecksum`.
   */
  draftSave(
    params: NewDefinition & { ifChecksum?: string | null },
  ): Promise<{ workflow: WorkflowRecord; created: boolean } | null>;
  /** A new Draft. False: the name is taken, and nothing was touched. */
  draftCreate(params: NewDefinition): Promise<boolean>;
  /** A copy of the current version as a draft beside it. False: it is not Active, or has a draft already. */
  draftOpen(params: { tenantId: string; workflowId: string }): Promise<boolean>;
  /** False: no draft is open beside a published version. */
  draftDrop(params: { tenantId: string; workflowId: string }): Promise<boolean>;
  draftGet(params: { tenantId: string; workflowId: string }): Promise<VersionRow | null>;
  /**
   * The draft as an immutable version: the one that has this checksum, or else a new one. `activate`: it becomes the current
   * version of an Active, enabled workflow, and the draft is done with. null: no such workflow.
   */
  draftPublish(params: {
    tenantId: string;
    workflowId: string;
    /** Of the draft that was checked. */
    checksum: string;
    displayName: string;
    description: string | null;
    activate: boolean;
  }): Promise<DraftPublication | null>;
  /** Pins the draft for an execution of it, under a version below zero. null: there is no draft. */
  draftSnapshot(params: { tenantId: string; workflowId: string }): Promise<{ version: number; format: string } | null>;

  /** Active → Archived; its enabled triggers are disabled, and marked. False: it is not Active. */
  workflowArchive(params: { tenantId: string; workflowId: string }): Promise<boolean>;
  /** Archived → Active; the marked triggers are enabled. False: it is not Archived. */
  workflowReactivate(params: { tenantId: string; workflowId: string }): Promise<boolean>;
  /** False: the workflow is archived or does not exist. */
  workflowEnable(params: { tenantId: string; workflowId: string; isEnabled: boolean }): Promise<boolean>;
  /** A Draft, or any pipeline. Versions stay for the executions that refer to them (I24). False: neither. */
  workflowDelete(params: { tenantId: string; workflowId: string }): Promise<boolean>;

  /** The status of each workflow, in the given order; null: it does not exist. */
  workflowStandings(params: {
    tenantId: string;
    wanted: readonly { readonly workflowId: string; readonly version: number | null }[];
  }): Promise<WorkflowStanding[]>;

  versionGet(params: { tenantId: string; workflowId: string; version: number }): Promise<VersionRow | null>;
  /** Published versions, newest first, those below `before`. */
  versionList(params: {
    tenantId: string;
    workflowId: string;
    before: number;
    limit: number;
  }): Promise<Omit<VersionRow, 'definition'>[]>;

  /** The published version of a plan with this checksum, and whether it may run; null: none. */
  planFind(params: {
    tenantId: string;
    workflowId: string;
    checksum: NewDefinition['checksum'];
  }): Promise<{ version: number; status: WorkflowStatus; isEnabled: boolean } | null>;
  /** A plan that is to be run, as the active version of its workflow: the one that has this checksum, or else a new one. */
  planPublish(params: NewDefinition): Promise<PlanPublication>;

  /** Live at once. null: the name is taken. */
  pipelineCreate(params: NewPipeline): Promise<WorkflowRecord | null>;
  /** Makes the definition the current version, new or not. null: there is no such pipeline, or it is Archived. */
  pipelineReplace(params: NewPipeline): Promise<WorkflowRecord | null>;
  /**
   * Like pipelineReplace, under the name of `pipeline`: identity, triggers (and so URL and secret) and runs move with it. Executions in
   * flight keep the version of the old name, which is free afterwards.
   */
  pipelineRename(params: { from: string; pipeline: NewPipeline }): Promise<PipelineRename>;
}
