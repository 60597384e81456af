// Who changed what: a deed and its record are one transaction, so there is never one without the other. Records are only added.

import type { JsonObject } from '../core/json/json.ts';
import type { JsonText, Store, Timestamp } from './port.ts';

/** Who asked for it. */
export interface Actor {
  readonly name: string;
  readonly correlationId?: string | undefined;
}

/** Nobody in particular: the program itself. */
export const SYSTEM: Actor = { name: 'system' };

export interface Deed {
  /** E.g. `workflow.publish`. */
  readonly action: string;
  /** E.g. `workflow/onboard-project`. */
  readonly target: string;
  readonly details?: JsonObject;
}

export interface AuditStore {
  /** Does the work on the store that is given to it, and records the deed; null: nothing was done that is worth a record. */
  audited<Result>(params: {
    tenantId: string;
    by: Actor;
    work: (store: Store) => Promise<Result>;
    deed: (result: Result) => Deed | null;
  }): Promise<Result>;
  /** Newest first, those below `beforeId`. */
  auditList(params: AuditFilter): Promise<AuditRecord[]>;
}

export interface AuditFilter {
  tenantId: string;
  beforeId: string | null;
  limit: number;
  actor?: string | undefined;
  /** A whole action, or the part before its dot. */
  action?: string | undefined;
  target?: string | undefined;
  after?: Timestamp | undefined;
  before?: Timestamp | undefined;
}

export interface AuditRecord {
  id: string;
  at: Timestamp;
  actor: string;
  action: string;
  target: string;
  details: JsonText | null;
  correlationId: string | null;
}
