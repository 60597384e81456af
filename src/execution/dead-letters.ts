// Dead letters as an operator handles them: look, try again, forget (I20).

import type { Json } from '../core/json/json.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { DeadLetter, OperationStore } from '../store/operation-port.ts';
import type { ExecutionStore } from '../store/port.ts';

export interface DeadLettersDeps {
  readonly store: ExecutionStore & OperationStore & Pick<AuditStore, 'audited'>;
  readonly workWanted: () => void;
  /** Fires a trigger with a payload that could not be used before; throws what keeps it from starting. */
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

  /** Null: of every tenant. */
  list(tenantId: string | null, afterId: string, limit: number): Promise<DeadLetter[]> {
    return this.deps.store.deadLetterList({ tenantId, afterId, limit });
  }

  /** The execution that is live again, or that its trigger started now; null: there is no such letter. */
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

  /** All of the tenant's; says how many there were. */
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
