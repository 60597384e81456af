// The way in for tenants with a quota: each start is a transaction that looks at what is left. Those of one tenant would wait
// for each other in the database, holding connections that commits need; so they wait here, and tenants take turns (I22).

import type { NewExecution } from '../../store/port.ts';
import type { QuotaStore } from '../../store/quota-port.ts';
import { quotaFilled } from '../../store/quota-refusal.ts';
import { type Started, startedOf } from './starter.ts';

interface Waiting {
  readonly item: NewExecution;
  readonly resolve: (started: Started) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_IN_FLIGHT = 3;

export class LimitedStarter {
  private readonly store: Pick<QuotaStore, 'executionStartLimited'>;
  /** By tenant; the first is the next to have its turn. */
  private readonly queues = new Map<string, Waiting[]>();
  private readonly busy = new Set<string>();

  constructor(store: Pick<QuotaStore, 'executionStartLimited'>) {
    this.store = store;
  }

  start(item: NewExecution): Promise<Started> {
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(item.tenantId) ?? [];
      queue.push({ item, resolve, reject });
      this.queues.set(item.tenantId, queue);
      this.next();
    });
  }

  private next(): void {
    for (const [tenantId, queue] of [...this.queues]) {
      if (this.busy.size === MAX_IN_FLIGHT) return;
      if (this.busy.has(tenantId)) continue;
      const first = queue.shift()!;
      this.queues.delete(tenantId);
      if (queue.length > 0) this.queues.set(tenantId, queue);
      this.busy.add(tenantId);
      void this.insert(first).finally(() => {
        this.busy.delete(tenantId);
        this.next();
      });
    }
  }

  private async insert({ item, resolve, reject }: Waiting): Promise<void> {
    try {
      const outcome = await this.store.executionStartLimited({ item });
      if ('filled' in outcome) throw quotaFilled(outcome);
      resolve(startedOf(item, outcome));
    } catch (error) {
      reject(error);
    }
  }
}
