// Reads workflows: versions, definitions, differences between two versions, and the workflow of a run. Changes are in
// workflows.ts.

import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { workflowRef } from '../protocol/workflow.ts';
import type { Store } from '../store/port.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import type {
  RunRow,
  VersionRow,
  WorkflowActivity,
  WorkflowFilter,
  WorkflowIdentity,
  WorkflowRecord,
  WorkflowRef,
} from '../store/workflow-port.ts';
import { actionNotices } from './workflow-check.ts';
import { type Change, diffJson } from './workflow-diff.ts';

type VersionName = number | 'draft';

export class WorkflowQueries {
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  async find(tenantId: string, ref: WorkflowRef): Promise<WorkflowRecord> {
    return (await this.store.workflowFind({ tenantId, ref })) ?? notFound(ref);
  }

  list(tenantId: string, filter: WorkflowFilter, page: { afterId: string; limit: number }): Promise<WorkflowRecord[]> {
    return this.store.workflowList({ tenantId, ...filter, ...page });
  }

  activity(tenantId: string, workflowIds: readonly string[]): Promise<WorkflowActivity[]> {
    return this.store.workflowActivity({ tenantId, workflowIds });
  }

  versionsLive(tenantId: string, { workflowId }: WorkflowRecord): Promise<ReadonlyMap<number, number>> {
    return this.store.versionsLive({ tenantId, workflowId });
  }

  /** The current version by default, or the draft of a workflow that was never published. */
  async definition(
    tenantId: string,
    { workflowId, currentVersion }: WorkflowRecord,
    version: VersionName = currentVersion ?? 'draft',
  ): Promise<VersionRow> {
    const found =
      version === 'draft'
        ? await this.store.draftGet({ tenantId, workflowId })
        : await this.store.versionGet({ tenantId, workflowId, version });
    if (found !== null) return found;
    const what = version === 'draft' ? 'no open draft' : `no version ${version}`;
    throw new PawlError('WORKFLOW_NOT_FOUND', `workflow "${workflowId}" has ${what}`);
  }

  /** Actions of a definition that are now deprecated or disabled. */
  notices(definition: string): Promise<Problem[]> {
    return actionNotices(this.store, JSON.parse(definition) as Json);
  }

  async versions(
    tenantId: string,
    { workflowId }: WorkflowRecord,
    page: { before: number; limit: number },
  ): Promise<Omit<VersionRow, 'definition'>[]> {
    return this.store.versionList({ tenantId, workflowId, ...page });
  }

  /** Finds the workflow of a list of runs. A deleted workflow keeps its runs, because those in flight finish. */
  async findForRuns(tenantId: string, ref: WorkflowRef): Promise<WorkflowIdentity> {
    return (await this.store.workflowIdentity({ tenantId, ref })) ?? notFound(ref);
  }

  /** The workflow filter of lists. A text that is not a known `wf_…` id counts as a name. */
  async nameIn(tenantId: string, given: string | undefined): Promise<string | undefined> {
    const ref = given === undefined ? undefined : workflowRef(given);
    if (ref === undefined || !('uid' in ref)) return given;
    return (await this.store.workflowIdentity({ tenantId, ref }))?.workflowId ?? given;
  }

  runs(
    tenantId: string,
    workflow: WorkflowIdentity,
    page: { before: string | null; statuses: readonly string[] | null; limit: number },
  ): Promise<RunRow[]> {
    return this.store.workflowRuns({ tenantId, workflow, ...page });
  }

  /** A deleted workflow of the same name had runs too; their versions tell whose they are. */
  async isRunOf(tenantId: string, { uid }: WorkflowIdentity, run: ExecutionView): Promise<boolean> {
    const { workflowId, version } = run;
    return (await this.store.versionOwner({ tenantId, workflowId, version })) === uid;
  }

  async diff(tenantId: string, workflow: WorkflowRecord, from: VersionName, to: VersionName): Promise<Change[]> {
    const [before, after] = await Promise.all([
      this.definition(tenantId, workflow, from),
      this.definition(tenantId, workflow, to),
    ]);
    return diffJson(JSON.parse(before.definition) as Json, JSON.parse(after.definition) as Json);
  }
}

function notFound(ref: WorkflowRef): never {
  throw new PawlError(
    'WORKFLOW_NOT_FOUND',
    'workflowId' in ref ? `no workflow "${ref.workflowId}"` : 'no such workflow',
  );
}
