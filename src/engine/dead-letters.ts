// Dead letters as an operator handles them: look, try again, forget (003 §11, I20).

import type { DeadLetter, ExecutionStore, OperationStore } from '../store/port.ts';

export interface DeadLettersDeps {
  readonly store: ExecutionStore & OperationStore;
  readonly workWanted: () => void;
}

export class DeadLetters {
  private readonly deps: DeadLettersDeps;

  constructor(deps: DeadLettersDeps) {
    this.deps = deps;
  }

  list(tenantId: string, afterId: string, limit: number): Promise<DeadLetter[]> {
    return this.deps.store.deadLetterList({ tenantId, afterId, limit });
  }

  /** The execution that is live again; null: there is no such letter. */
  async requeue(tenantId: string, id: string): Promise<string | null> {
    const { store, workWanted } = this.deps;
    const [letter] = await store.deadLetterList({ tenantId, afterId: String(BigInt(id) - 1n), limit: 1 });
    if (letter?.id !== id) return null;
    const { executionId } = letter;
    const { reopened } = await store.executionReopen({ tenantId, executionId, message: null });
    if (!reopened) return null;
    workWanted();
    return executionId;
  }

  async purge(tenantId: string, id: string): Promise<boolean> {
    return (await this.deps.store.deadLetterPurge({ tenantId, ids: [id] })) > 0;
  }
}
