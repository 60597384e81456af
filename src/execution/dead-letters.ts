// Dead letters for operators: read, retry, discard (I20).

import type { Json } from '../core/json/json.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { DeadLetter, OperationStore } from '../store/operation-port.ts';
import type { ExecutionStore } from '../store/port.ts';

export interface DeadLettersDeps {
  readonly store: ExecutionStore & OperationStore & Pick<AuditStore, 'audited'>;
  readonly workWanted: () => void;
  /** Fires a trigger with a previously unusable payload; throws the reason if it fails again. */
  readonly fireAgain: (
    trigger: { tenantId: string; triggerId: string },
    firing: { requestId: string; body: Json },
  ) => Promise<string>;
}

export class DeadLetters {
  private readonly deps: DeadLettersDeps;

  constructor(deps: DeadLettersDeps) {
    this.deps = deps;
  }

  /** null: of all tenants. */
  list(tenantId: string | null, afterId: string, limit: number): Promise<DeadLetter[]> {
    return this.deps.store.deadLetterList({ tenantId, afterId, limit });
  }

  /** The execution that is live again, or that the trigger has started; null: no such letter. */
  async requeue(tenantId: string, id: string, by: Actor = SYSTEM): Promise<string | null> {
    const { store } = this.deps;
    const [letter] = await store.deadLetterList({ tenantId, afterId: String(BigInt(id) - 1n), limit: 1 });
    if (letter?.id !== id) return null;
    const { executionId, triggerId, requestId } = letter;
    if (executionId !== null) return this.reopen(tenantId, id, executionId, by);
    const { triggerPayload: body } = JSON.parse(letter.payload) as { triggerPayload: Json };
    const firing = { requestId: requestId!, body };
    const started = await this.deps.fireAgain({ tenantId, triggerId: triggerId! }, firing);
    await store.audited({
      tenantId,
      by,
      work: (joined) => joined.deadLetterPurge({ tenantId, ids: [id] }),
      deed: () => deedOf('requeue', id, started),
    });
    return started;
  }

  private async reopen(tenantId: string, id: string, executionId: string, by: Actor): Promise<string | null> {
    const { store, workWanted } = this.deps;
    const { reopened } = await store.audited({
      tenantId,
      by,
      work: (joined) => joined.executionReopen({ tenantId, executionId, message: null }),
      deed: (outcome) => (outcome.reopened ? deedOf('requeue', id, executionId) : null),
    });
    if (!reopened) return null;
    workWanted();
    return executionId;
  }

  async purge(tenantId: string, id: string, by: Actor = SYSTEM): Promise<boolean> {
    const purged = await this.deps.store.audited({
      tenantId,
      by,
      work: (joined) => joined.deadLetterPurge({ tenantId, ids: [id] }),
      deed: (count) => (count > 0 ? deedOf('purge', id) : null),
    });
    return purged > 0;
  }

  /** All dead letters of the tenant. Returns how many. */
  purgeAll(tenantId: string, by: Actor = SYSTEM): Promise<number> {
    return this.deps.store.audited({
      tenantId,
      by,
      work: (joined) => joined.deadLetterPurge({ tenantId, ids: null }),
      deed: (count) =>
        count > 0 ? { action: 'dead-letter.purge', target: 'dead-letter/*', details: { count } } : null,
    });
  }
}

const deedOf = (action: string, id: string, executionId?: string) => ({
  action: `dead-letter.${action}`,
  target: `dead-letter/${id}`,
  ...(executionId === undefined ? {} : { details: { executionId } }),
});
