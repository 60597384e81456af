// What execution_claim answers. An execution that was never claimed before comes with everything that there is to load.

import type { ClaimedExecution, NewExecution, Timestamp } from '../../port.ts';
import { loadedExecution } from './execution-load.ts';

/** Of the execution itself, only what a claim needs, unless it was never claimed before and has no mail. */
export type ClaimRow = Omit<ClaimedExecution, 'execution'> & NewExecution & { at: Timestamp };

/** There is one row also when nothing was claimed, for the time. */
export function claimOf(rows: readonly ClaimRow[]): { claimed: ClaimedExecution[]; at: Timestamp } {
  const [first] = rows as readonly (ClaimRow | { executionId: null; at: Timestamp })[];
  return { claimed: first!.executionId === null ? [] : rows.map(claimedExecution), at: first!.at };
}

function claimedExecution(row: ClaimRow): ClaimedExecution {
  const { executionId, tenantId, workflowId, version, priority, epoch, crashes, readyAt } = row;
  const execution = row.format === null ? null : loadedExecution(row);
  return { executionId, tenantId, workflowId, version, priority, epoch, crashes, readyAt, execution };
}
