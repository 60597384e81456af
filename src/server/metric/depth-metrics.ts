// What waits, by workflow and by tenant, and how much of their quotas tenants have used: asked of the database when somebody
// scrapes, once for all of them. A database that does not answer leaves the last numbers and says so in a metric of its own,
// so that the rest can still be read when it is needed most.

import { Gauge, type Registry } from 'prom-client';
import type { QuotaStore } from '../../store/quota-port.ts';
import type { ExecutionReader } from '../../store/reader-port.ts';
import { before } from '../deadline.ts';

export type DepthStore = Pick<ExecutionReader, 'queueDepth'> & Pick<QuotaStore, 'quotaShares'>;

const DEADLINE_MS = 2_000;

type Answer = Awaited<ReturnType<typeof ask>>;

/** Returns what must be called before each scrape: the numbers are asked for anew. */
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
    for (const { workflowId, depth } of depths) self.inc({ workflowId }, depth);
  });
  gauge('engine_queue_depth', 'Executions that have not ended.', ['adapter', 'taskQueue'], (self, { depths }) => {
    const total = depths.reduce((sum, { depth }) => sum + depth, 0);
    self.set({ adapter: 'native', taskQueue: 'default' }, total);
  });
  gauge('engine_tenant_queue_depth', 'Executions that have not ended, by tenant.', ['tenant'], (self, { depths }) => {
    for (const { tenantId: tenant, depth } of depths) self.inc({ tenant }, depth);
  });
  const share = 'Share of its fullest quota that a tenant has used: 1 = used up.';
  gauge('engine_tenant_quota_used', share, ['tenant'], (self, { shares }) => {
    for (const { tenantId: tenant, used } of shares) self.set({ tenant }, used);
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
  const [depths, shares] = await Promise.all([store.queueDepth(), store.quotaShares()]);
  return { depths, shares };
}
