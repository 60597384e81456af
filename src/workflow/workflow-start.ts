// The version that a request starts, or the reason why none: a workflow that is not Active or is disabled does not run. Where
// drafts may run (`AllowDraftExecution`), a draft is pinned as a snapshot under a negative version, shown as version 0, so that a
// running draft does not change while it is edited.

import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json } from '../core/json/json.ts';
import { workflowRef } from '../protocol/workflow.ts';
import type { WorkflowRow, WorkflowStore } from '../store/port.ts';
import type { WorkflowLifeStore } from '../store/workflow-port.ts';

/** The version that people see for any snapshot of a draft. */
const DRAFT_VERSION = 0;

export interface VersionRequest {
  readonly tenantId: string;
  /** The name, or `wf_` and the uuid. */
  readonly workflowId: string;
  /** Absent: the current version. 0: the draft. */
  readonly version?: number | undefined;
}

type VersionStore = WorkflowStore & Pick<WorkflowLifeStore, 'versionGet' | 'draftSnapshot' | 'workflowFind'>;

export interface VersionToStart {
  readonly workflowId: string;
  readonly version: number;
  readonly format: string;
}

export async function versionToStart(
  store: VersionStore,
  request: VersionRequest,
  allowDraftExecution: boolean,
): Promise<VersionToStart> {
  const { tenantId, version } = request;
  const workflow = await find(store, request);
  if (workflow === null) throw new PawlError('WORKFLOW_NOT_FOUND', `no workflow "${request.workflowId}"`);
  const { workflowId, status, format } = workflow;
  const wantsDraft = version === DRAFT_VERSION || (version === undefined && status === 'Draft');
  if (!wantsDraft || !allowDraftExecution || status === 'Archived') {
    return { workflowId, version: await publishedVersion(store, request, workflow), format };
  }
  const snapshot = await store.draftSnapshot({ tenantId, workflowId });
  if (snapshot === null) throw noVersion(workflowId, 'open draft');
  return { workflowId, ...snapshot };
}

function find(store: VersionStore, { tenantId, workflowId }: VersionRequest): Promise<WorkflowRow | null> {
  const ref = workflowRef(workflowId);
  return 'uid' in ref ? store.workflowFind({ tenantId, ref }) : store.workflowGet({ tenantId, workflowId });
}

async function publishedVersion(store: VersionStore, request: VersionRequest, workflow: WorkflowRow): Promise<number> {
  const { tenantId } = request;
  const { workflowId, status, isEnabled, currentVersion } = workflow;
  if (status !== 'Active' || currentVersion === null) throw notActive(workflowId, status);
  if (!isEnabled) throw disabled(workflowId);
  const version = request.version ?? currentVersion;
  if (version === currentVersion) return version;
  const found = version > 0 ? await store.versionGet({ tenantId, workflowId, version }) : null;
  if (found === null) throw noVersion(workflowId, `version ${version}`);
  return version;
}

export function notActive(workflowId: string, status: WorkflowRow['status']): PawlError {
  return new PawlError('WORKFLOW_NOT_ACTIVE', `workflow "${workflowId}" is ${status}, not Active`);
}

export function disabled(workflowId: string): PawlError {
  return new PawlError('WORKFLOW_DISABLED', `workflow "${workflowId}" is disabled`);
}

function noVersion(workflowId: string, what: string): PawlError {
  return new PawlError('WORKFLOW_NOT_FOUND', `workflow "${workflowId}" has no ${what}`);
}

const REQUEST_KEYS = new Set(['body', 'headers', 'method', 'query']);

/**
 * A pipeline sees its trigger as a request: `trigger.body` and `trigger.headers`. A payload is the body, even if its only key
 * is `body`, so it means the same however the run is started. A payload with both is a request already.
 */
export function triggerFor(format: string, trigger: Json = {}): Json {
  if (format !== 'pipeline') return trigger;
  const isRequest =
    isJsonObject(trigger) &&
    Object.hasOwn(trigger, 'body') &&
    Object.hasOwn(trigger, 'headers') &&
    Object.keys(trigger).every((key) => REQUEST_KEYS.has(key));
  return isRequest ? trigger : { body: trigger, headers: {} };
}
