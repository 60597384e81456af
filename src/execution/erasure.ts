// Erasure of a person's or a tenant's data (GDPR), in one transaction with its record. The audit log keeps a tombstone: that,
// when and by whom something was erased, and how much; the person only as a digest.

import { createHash } from 'node:crypto';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Actor, AuditStore } from '../store/audit-port.ts';
import type { Erased, ErasureStore } from '../store/erasure-port.ts';

export interface ErasureRequest {
  readonly tenantId: string;
  /** null: the whole tenant. */
  readonly person: string | null;
  /** Counts without removing. */
  readonly dryRun: boolean;
  readonly reason: string;
}

/** Rolls back the transaction of a dry run. */
class DryRun extends Error {
  readonly erased: Erased;
  constructor(erased: Erased) {
    super('dry run');
    this.erased = erased;
  }
}

export class Erasure {
  private readonly store: ErasureStore & Pick<AuditStore, 'audited'>;
  private readonly sweepArtifacts: () => Promise<unknown>;

  constructor(store: ErasureStore & Pick<AuditStore, 'audited'>, sweepArtifacts: () => Promise<unknown>) {
    this.store = store;
    this.sweepArtifacts = sweepArtifacts;
  }

  async erase({ tenantId, person, dryRun, reason }: ErasureRequest, by: Actor): Promise<Erased['counts']> {
    const target = person === null ? `tenant/${tenantId}` : `person/${personDigest(person)}`;
    const erased = await this.store
      .audited({
        tenantId,
        by,
        work: async (store) => {
          const found = await store.erase({ tenantId, person });
          if (dryRun) throw new DryRun(found);
          return found;
        },
        deed: ({ live, counts }) =>
          live.length > 0 ? null : { action: 'tenant.erase', target, details: { reason, ...counts } },
      })
      .catch((error: unknown) => {
        if (error instanceof DryRun) return error.erased;
        throw error;
      });
    if (erased.live.length > 0) {
      const message = 'executions that would be erased are still live: cancel them, and ask again when they have ended';
      throw new PawlError('WFENG002', message, { executionIds: erased.live });
    }
    // The bytes of artifacts go now. If that fails, the next sweep removes them.
    if (!dryRun && erased.counts.artifacts > 0) await this.sweepArtifacts().catch(() => undefined);
    return erased.counts;
  }
}

export function personDigest(person: string): string {
  return createHash('sha256').update(person).digest('hex');
}
