// Event waits whose keys are known when an execution starts. Their rows are written before the start is acknowledged, so an event
// after the answer finds its execution, whether or not a runner has seen it (I1, I10). A crash in between loses nothing: nobody
// was answered, and the first turn writes the same rows.

import { earlySubscriptions } from '../../core/decider/waiting.ts';
import type { Json } from '../../core/json/json.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { nodeIdAt } from '../../core/plan/virtual-node.ts';
import type { NewExecution, Store } from '../../store/port.ts';
import type { PlanSource, VersionKey } from '../../workflow/plan-cache.ts';

export interface EarlyWaitsDeps {
  readonly store: Pick<Store, 'eventWaitAdd' | 'executionGet'>;
  readonly plans: PlanSource;
}

const MAX_KNOWN = 10_000;

export class EarlyWaits {
  private readonly deps: EarlyWaitsDeps;
  /** Versions without such waits, which are most: a published version never changes. */
  private readonly without = new Set<string>();

  constructor(deps: EarlyWaitsDeps) {
    this.deps = deps;
  }

  /** `executionId`: the started execution, which differs from the item's when the request is a repetition. */
  async subscribe(item: NewExecution, executionId: string): Promise<void> {
    const plan = await this.planOf(item);
    if (plan === null) return;
    const { store } = this.deps;
    const stored = executionId === item.executionId ? item : await store.executionGet({ ...item, executionId });
    if (stored === null) return;
    const { tenantId } = item;
    const start = {
      ...item,
      executionId,
      correlationId: stored.correlationId,
      trigger: JSON.parse(stored.trigger) as Json,
      spec: stored.spec === null ? null : (JSON.parse(stored.spec) as Json),
      principal: JSON.parse(stored.principal) as Json,
      callbackUrls: {},
    };
    const waits = earlySubscriptions(plan, start).flatMap(({ node, subscriptions }) =>
      subscriptions.map(({ type: eventType, key }) => {
        return { tenantId, eventType, key, executionId, nodeId: nodeIdAt(plan, node) };
      }),
    );
    if (waits.length > 0) await store.eventWaitAdd({ waits });
  }

  private async planOf({ tenantId, workflowId, version }: VersionKey): Promise<Plan | null> {
    const key = `${version}:${tenantId}:${workflowId}`;
    if (this.without.has(key)) return null;
    const found = await this.deps.plans.plan({ tenantId, workflowId, version });
    if (found === null || 'problem' in found) return null;
    if (found.plan.earlyWaits !== undefined) return found.plan;
    // Version 0 is the draft, which may change.
    if (version > 0) this.without.add(key);
    if (this.without.size > MAX_KNOWN) this.without.delete(this.without.keys().next().value!);
    return null;
  }
}
