// What execution_claim answers. An execution that was never claimed before comes with everything that there is to load.

import type { ClaimedExecution, ClaimResult, NewExecution, Timestamp } from '../../port.ts';
import { loadedExecution } from './execution-load.ts';

/** Of the execution itself, only what a claim needs, unless it was never claimed before and has no mail. */
export type ClaimRow = Omit<ClaimedExecution, 'execution'> & NewExecution & Always;

interface Always {
  at: Timestamp;
  /** `priority:tenant` */
  leftAlone: string | null;
}

/** There is one row also when nothing was claimed, for the time. */
export function claimOf(rows: readonly ClaimRow[]): ClaimResult {
  const [first] = rows as readonly (ClaimRow | ({ executionId: null } & Always))[];
  const { executionId, at, leftAlone } = first!;
  return { claimed: executionId === null ? [] : rows.map(claimedExecution), at, leftAlone: laneOf(leftAlone) };
}

function laneOf(text: string | null): ClaimResult['leftAlone'] {
  if (text === null) return null;
  const colon = text.indexOf(':');
  return { priority: Number(text.slice(0, colon)), tenantId: text.slice(colon + 1) };
}

function claimedExecution(row: ClaimRow): ClaimedExecution {
  const { executionId, tenantId, workflowId, version, priority, epoch, crashes, readyAt } = row;
  const execution = row.format === null ? null : loadedExecution(row);
  return { executionId, tenantId, workflowId, version, priority, epoch, crashes, readyAt, execution };
}
