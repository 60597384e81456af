// The executions of workflows on PostgreSQL: a deleted workflow keeps its runs, even when another takes its name.

import type { RunRow, WorkflowIdentity, WorkflowRunStore } from '../../workflow-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const IDENTITY = statement('workflow_identity');
const VERSION_OWNER = statement('version_owner');
const RUNS = statement('workflow_runs');

export function workflowRunStore(database: Database): WorkflowRunStore {
  return {
    async workflowIdentity({ tenantId, ref }) {
      const values = 'uid' in ref ? [tenantId, null, ref.uid] : [tenantId, ref.workflowId, null];
      const [row] = await database.run<WorkflowIdentity>(IDENTITY, values);
      return row ?? null;
    },
    async versionOwner({ tenantId, workflowId, version }) {
      const [row] = await database.run<{ uid: string }>(VERSION_OWNER, [tenantId, workflowId, version]);
      return row?.uid ?? null;
    },
    async workflowRuns({ tenantId, workflow, before, statuses, limit }) {
      const values = [tenantId, before, limit, workflow.uid, statuses];
      const rows = await database.run<RunRow>(RUNS, values);
      return rows;
    },
  };
}
