// Who changed what. A change and its record are one transaction, so neither exists without the other. Records are only added.

import type { JsonObject } from '../core/json/json.ts';
import type { JsonText, Store, Timestamp } from './port.ts';

/** Who asked for the change. */
export interface Actor {
  readonly name: string;
  readonly correlationId?: string | undefined;
}

/** The program itself. */
export const SYSTEM: Actor = { name: 'system' };

/** The owner of records that concern every tenant: all tenants see them. No tenant has this name. */
export const EVERY_TENANT = '*';

export interface Deed {
  /** E.g. `workflow.publish`. */
  readonly action: string;
  /** E.g. `workflow/onboard-project`. */
  readonly target: string;
  readonly details?: JsonObject;
}

export interface AuditStore {
  /** Does the work on the given store and records the deed; null: nothing worth a record was done. */
  audited<Result>(params: {
    tenantId: string;
    by: Actor;
    work: (store: Store) => Promise<Result>;
    deed: (result: Result) => Deed | null;
  }): Promise<Result>;
  /** Newest first, below `beforeId`: the tenant's records, and those that concern all tenants. */
  auditList(params: AuditFilter): Promise<AuditRecord[]>;
  /** Follows a tenant's chain from a link that is known to be whole; null: from the beginning. */
  auditCheck(params: { tenantId: string; from: AuditLink | null; limit: number }): Promise<AuditCheck>;
  /** Tenants with a record, by id. */
  auditTenants(): Promise<string[]>;
}

/** A place in the chain of a tenant: the number of a record, and the hash over it and all before, in hex. */
export interface AuditLink {
  seq: number;
  hash: string;
}

export interface AuditCheck {
  checked: number;
  /** The last complete link; null: none. */
  head: AuditLink | null;
  /** Where the chain is broken; null: nowhere in the checked part. */
  broken: { seq: number; expectedSeq: number } | null;
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
