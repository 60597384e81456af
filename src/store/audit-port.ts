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

/** Whose log a deed stands in that concerns every tenant: all of them see it. No tenant is called so. */
export const EVERY_TENANT = '*';

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
  /** Newest first, those below `beforeId`: what was done in this tenant, and what concerns all of them. */
  auditList(params: AuditFilter): Promise<AuditRecord[]>;
  /** Follows the chain of a tenant from a link that is known to be whole; null: from its beginning. */
  auditCheck(params: { tenantId: string; from: AuditLink | null; limit: number }): Promise<AuditCheck>;
  /** Those with a record, by id. */
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
  /** Where the chain is broken; null: nowhere among those checked. */
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
