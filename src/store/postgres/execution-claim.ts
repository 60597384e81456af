// What execution_claim answers, read field by field: every execution comes this way, and the driver takes longer to name and parse two
// dozen columns than everything else takes that a claim does here (12 against 6 µs for each execution).

import type { ClaimedExecution, Timestamp } from '../port.ts';
import type { RawRow } from './database.ts';
import { type ExecutionRow, loadedExecution } from './execution-load.ts';
import { parseTimestamp } from './timestamp-text.ts';

/** In the order in which `freshRow` reads them; a test compares them with the statement's. */
export const CLAIM_COLUMNS = [
  ...['execution_id', 'tenant_id', 'workflow_id', 'version', 'priority', 'epoch', 'crashes', 'ready_at', 'at'],
  ...['format', 'behaviour', 'trigger', 'spec', 'principal', 'correlation_id', 'request_id', 'parent_id'],
  ...['parent_node', 'depth', 'project_id', 'environment_id', 'created_at', 'traceparent'],
];

/** There is one row also when nothing was claimed, for the time. */
export function claimOf(rows: readonly RawRow[]): { claimed: ClaimedExecution[]; at: Timestamp } {
  const at = parseTimestamp(rows[0]![8]!);
  return { claimed: rows[0]![0] === null ? [] : rows.map(claimedExecution), at };
}

function claimedExecution(row: RawRow): ClaimedExecution {
  return {
    executionId: row[0]!,
    tenantId: row[1]!,
    workflowId: row[2]!,
    version: Number(row[3]),
    priority: Number(row[4]),
    epoch: Number(row[5]),
    crashes: Number(row[6]),
    readyAt: parseTimestamp(row[7]!),
    // Null, and so is everything after it, unless the execution was never claimed before and has no mail.
    execution: row[9] === null ? null : loadedExecution(freshRow(row)),
  };
}

function freshRow(row: RawRow): ExecutionRow {
  return {
    execution_id: row[0]!,
    tenant_id: row[1]!,
    workflow_id: row[2]!,
    version: Number(row[3]),
    priority: Number(row[4]),
    format: row[9]!,
    behaviour: Number(row[10]),
    trigger: row[11]!,
    spec: row[12]!,
    principal: row[13]!,
    correlation_id: row[14]!,
    request_id: row[15]!,
    parent_id: row[16]!,
    parent_node: row[17]!,
    depth: Number(row[18]),
    project_id: row[19]!,
    environment_id: row[20]!,
    created_at: parseTimestamp(row[21]!),
    traceparent: row[22]!,
  };
}
