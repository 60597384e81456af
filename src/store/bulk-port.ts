// Bulk actions on executions: stored until they are done, so that another process can continue them.

import type { JsonText, Timestamp } from './port.ts';

export interface BulkStore {
  /** false: one with this requestId already exists, unchanged. */
  bulkCreate(params: NewBulk): Promise<boolean>;
  bulkGet(params: { tenantId: string; ref: { id: string } | { requestId: string } }): Promise<BulkRecord | null>;
  /** Newest first. */
  bulkList(params: { tenantId: string; beforeId: string | null; limit: number }): Promise<BulkRecord[]>;
  /** A running one that no process works on: it belongs to the caller for `leaseMs`. */
  bulkClaim(params: { leaseMs: number }): Promise<BulkRecord | null>;
  /** Adds to the counts and advances. false: it was stopped, or belongs to another process. */
  bulkProgress(params: BulkProgress): Promise<boolean>;
  /** false: it is not running. */
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
  /** The last processed execution. */
  cursor: string | null;
  isOver: boolean;
  leaseMs: number;
}
