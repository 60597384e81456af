// Depths by workflow and tenant, and the used share of quotas: read from the database at each scrape, once for all metrics. If
// the database does not answer, the last numbers stay and a separate metric says so, so that the rest can still be read when it
// is needed most.

import { Gauge, type Registry } from 'prom-client';
import type { QuotaStore } from '../../store/quota-port.ts';
import type { ExecutionReader } from '../../store/reader-port.ts';
import type { TaskQueueStore } from '../../store/task-queue-port.ts';
import { before } from '../deadline.ts';
import { largest } from './series-cap.ts';

export type DepthStore = Pick<ExecutionReader, 'queueDepth'> &
  Pick<QuotaStore, 'quotaShares'> &
  Pick<TaskQueueStore, 'taskQueueList'>;

const DEADLINE_MS = 2_000;
const MOST_SHARES = 1_000;

type Answer = Awaited<ReturnType<typeof ask>>;

/** Returns a function to call before each scrape, so that the numbers are read anew. */
export function depthMetrics(registry: Registry, store: DepthStore): () => void {
  let asked: Promise<Answer | null> | null = null;
  const answer = () => {
    asked ??= before(DEADLINE_MS, ask(store)).catch(() => null);
    return asked;
  };
  const gauge = (name: string, help: string, labelNames: string[], fill: (self: Gauge, known: Answer) => void) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const known = await answer();
        if (known === null) return;
        this.reset();
        fill(this, known);
      },
    });
  gauge('queue_depth', 'Executions that have not ended, by workflow.', ['workflowId'], (self, { depths }) => {
    for (const [workflowId, depth] of largest(sums(depths, 'workflowId'))) self.set({ workflowId }, depth);
  });
  const waiting = 'What a runner or a worker could take now: executions (`default`), and attempts by their task queue.';
  gauge('engine_queue_depth', waiting, ['adapter', 'taskQueue'], (self, { depths, queues }) => {
    const ready = depths.reduce((sum, row) => sum + row.ready, 0);
    self.set({ adapter: 'native', taskQueue: 'default' }, ready);
    for (const queue of queues) self.set({ adapter: 'native', taskQueue: queue.taskQueue }, queue.ready);
  });
  gauge('engine_queue_workers', 'Workers that were seen in the last minute.', ['taskQueue'], (self, { queues }) => {
    for (const { taskQueue, workers } of queues) self.set({ taskQueue }, workers.length);
  });
  const slots = 'Attempts that the workers of a queue could run at once, all of them together.';
  gauge('engine_queue_slots', slots, ['taskQueue'], (self, { queues }) => {
    for (const { taskQueue, workers } of queues)
      self.set(
        { taskQueue },
        workers.reduce((sum, one) => sum + one.slots, 0),
      );
  });
  const age = 'How long the oldest attempt has waited for a worker.';
  gauge('engine_queue_oldest_seconds', age, ['taskQueue'], (self, { queues }) => {
    for (const { taskQueue, oldestQueuedAt } of queues)
      self.set({ taskQueue }, oldestQueuedAt === null ? 0 : Math.max(0, Date.now() - oldestQueuedAt) / 1_000);
  });
  gauge('engine_tenant_queue_depth', 'Executions that have not ended, by tenant.', ['tenant'], (self, { depths }) => {
    for (const [tenant, depth] of largest(sums(depths, 'tenantId'))) self.set({ tenant }, depth);
  });
  const share = 'Share of its fullest quota that a tenant has used: 1 = used up.';
  gauge('engine_tenant_quota_used', share, ['tenant'], (self, { shares }) => {
    for (const { tenantId: tenant, used } of shares.slice(0, MOST_SHARES)) self.set({ tenant }, used);
  });
  new Gauge({
    name: 'pawl_database_up',
    help: 'Whether the database answered when these metrics were asked for.',
    registers: [registry],
    async collect() {
      this.set((await answer()) === null ? 0 : 1);
    },
  });
  return () => {
    asked = null;
  };
}

async function ask(store: DepthStore) {
  const asked = [store.queueDepth(), store.quotaShares(), store.taskQueueList({ tenantId: null })] as const;
  const [depths, shares, queues] = await Promise.all(asked);
  return { depths, shares, queues: queues.slice(0, MOST_SHARES) };
}

function sums(depths: Answer['depths'], by: 'workflowId' | 'tenantId'): Map<string, number> {
  const found = new Map<string, number>();
  for (const row of depths) found.set(row[by], (found.get(row[by]) ?? 0) + row.depth);
  return found;
}
