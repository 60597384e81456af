// A row of executions_view as the port shows it.

import type { JsonText, Timestamp } from '../port.ts';
import type { ExecutionView } from '../reader-port.ts';

export function executionView(row: ViewRow): ExecutionView {
  return {
    executionId: row.id,
    tenantId: row.tenant_id,
    workflowId: row.workflow_id,
    version: row.workflow_version,
    format: row.format,
    priority: row.priority,
    behaviour: row.behaviour,
    trigger: row.trigger,
    spec: row.spec,
    principal: row.principal,
    correlationId: row.correlation_id,
    requestId: row.workflow_request_id,
    parentId: row.parent_execution_id,
    parentNode: row.parent_node,
    depth: row.depth,
    projectId: row.project_id,
    environmentId: row.environment_id,
    createdAt: row.created_at,
    status: row.status,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outputs: row.outputs,
    error: row.error,
    contextSnapshot: row.context_snapshot,
  };
}

export interface ViewRow {
  id: string;
  tenant_id: string;
  workflow_id: string;
  workflow_version: number;
  format: string;
  priority: number;
  behaviour: number;
  trigger: JsonText;
  spec: JsonText | null;
  principal: JsonText;
  correlation_id: string;
  workflow_request_id: string | null;
  parent_execution_id: string | null;
  parent_node: string | null;
  depth: number;
  project_id: string;
  environment_id: string;
  created_at: Timestamp;
  status: string;
  started_at: Timestamp | null;
  ended_at: Timestamp | null;
  outputs: JsonText | null;
  error: JsonText | null;
  context_snapshot: JsonText | null;
}
