// The way in for tenants with a quota: concurrent starts of one tenant share one transaction, which checks the remaining quota.
// Transactions of one tenant would wait for each other in the database and hold connections that commits need; so they wait here,
// and tenants take turns (I22).

import { type Waiting, writeGroup } from '../../store/group-write.ts';
import type { NewExecution } from '../../store/port.ts';
import type { QuotaStore } from '../../store/quota-port.ts';
import { quotaFilled } from '../../store/quota-refusal.ts';
import { answer, type Started } from './starter.ts';

type Starting = Waiting<NewExecution, Started>;

const MAX_IN_FLIGHT = 3;
const MAX_BATCH = 256;

export class LimitedStarter {
  private readonly store: Pick<QuotaStore, 'executionStartLimited'>;
  /** By tenant; the first is next. */
  private readonly queues = new Map<string, Starting[]>();
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
      const batch = queue.splice(0, MAX_BATCH);
      this.queues.delete(tenantId);
      if (queue.length > 0) this.queues.set(tenantId, queue);
      this.busy.add(tenantId);
      void writeGroup(batch, (items) => this.insert(tenantId, items)).finally(() => {
        this.busy.delete(tenantId);
        this.next();
      });
    }
  }

  private async insert(tenantId: string, batch: readonly Starting[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    const outcomes = await this.store.executionStartLimited({ tenantId, items });
    for (const [index, outcome] of outcomes.entries()) {
      if ('filled' in outcome) batch[index]!.reject(quotaFilled(outcome));
      else answer(batch[index]!, outcome);
    }
  }
}
