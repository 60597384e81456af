// Actions on many executions: kept until they are done, so that another process goes on with what one began.

import type { JsonText, Timestamp } from './port.ts';

export interface BulkStore {
  /** False: there is one with this requestId already, and it is as it was. */
  bulkCreate(params: NewBulk): Promise<boolean>;
  bulkGet(params: { tenantId: string; ref: { id: string } | { requestId: string } }): Promise<BulkRecord | null>;
  /** Newest first. */
  bulkList(params: { tenantId: string; beforeId: string | null; limit: number }): Promise<BulkRecord[]>;
  /** One that runs and that nobody works at: it is the caller's for `leaseMs`. */
  bulkClaim(params: { leaseMs: number }): Promise<BulkRecord | null>;
  /** Adds to the counts and moves on. False: it was stopped, or is somebody else's. */
  bulkProgress(params: BulkProgress): Promise<boolean>;
  /** False: it does not run. */
  bulkStop(params: { tenantId: string; id: string }): Promise<boolean>;
}

export interface NewBulk {
  id: string;
  tenantId: string;
  requestId: string;
  action: string;
  selection: JsonText;
  version: number | null;
  reason: string;
  actor: string;
  correlationId: string | null;
  count: number;
  isCapped: boolean;
}

export interface BulkRecord extends NewBulk {
  state: 'running' | 'done' | 'stopped';
  done: number;
  failed: number;
  skipped: number;
  lastError: string | null;
  cursor: string | null;
  createdAt: Timestamp;
  endedAt: Timestamp | null;
}

export interface BulkProgress {
  id: string;
  done: number;
  failed: number;
  skipped: number;
  lastError: string | null;
  /** The last execution that was dealt with. */
  cursor: string | null;
  isOver: boolean;
  leaseMs: number;
}
