// The outcomes of a loop's items or rounds, by index: read from the attempts of their nodes, a page at a time. The loop itself
// may have dropped its results (a snapshot without them, a full context); the attempts are always there.

import { PawlError } from '../core/error/pawl-error.ts';
import { bodyOf } from '../core/plan/virtual-node.ts';
import type { AttemptRow } from '../store/port.ts';
import type { ExecutionReader, ExecutionView } from '../store/reader-port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';

export interface LoopItem {
  readonly index: number;
  /** The loop runs a single step, not a body of several nodes. */
  readonly isSingle: boolean;
  /** The last ended attempts of its nodes, in definition order. */
  readonly nodes: readonly { readonly nodeId: string; readonly attempt: AttemptRow }[];
}

export interface LoopPage {
  readonly items: readonly LoopItem[];
  /** Where the next page begins; null: there is none yet. */
  readonly next: number | null;
}

/** The most nodes per query, whatever the limit. */
const MAX_NODES = 4_000;

export class LoopItems {
  private readonly deps: { readonly store: Pick<ExecutionReader, 'nodesLastAttempts'>; readonly plans: PlanSource };

  constructor(deps: LoopItems['deps']) {
    this.deps = deps;
  }

  async page(view: ExecutionView, nodeId: string, after: number, limit: number): Promise<LoopPage> {
    const { executionId } = view;
    const found = await this.deps.plans.plan(view);
    const plan = found === null || 'problem' in found ? null : found.plan;
    const node = plan?.nodes.find(({ id }) => id === nodeId);
    const body = node === undefined ? null : bodyOf(node);
    if (node === undefined || body === null) {
      throw new PawlError('NODE_NOT_FOUND', `execution ${executionId} has no loop \`${nodeId}\``);
    }
    const atOnce = node.step.kind === 'forEach' ? node.step.parallel : 1;
    const wanted = Math.min(limit, Math.max(1, Math.floor(MAX_NODES / body.nodes.length) - atOnce));
    const last = Math.min(after + wanted, body.limit - 1);
    // Running items have no ended attempt, but later ones may. At most `parallel` run, so there is nothing further on.
    const beyond = Math.min(last + atOnce + 1, body.limit - 1);
    const ids: { index: number; nodeId: string }[] = [];
    for (let index = after + 1; index <= beyond; index++) {
      for (const { id } of body.nodes) {
        ids.push({ index, nodeId: body.isSingle ? `${nodeId}[${index}]` : `${nodeId}[${index}].${id}` });
      }
    }
    const rows = await this.deps.store.nodesLastAttempts({ executionId, nodeIds: ids.map((one) => one.nodeId) });
    const attempts = new Map(rows.map((row) => [row.nodeId, row]));
    const items = new Map<number, LoopItem['nodes'][number][]>();
    for (const { index, nodeId: id } of ids) {
      const attempt = attempts.get(id);
      if (attempt !== undefined) items.set(index, [...(items.get(index) ?? []), { nodeId: id, attempt }]);
    }
    const listed = [...items]
      .filter(([index]) => index <= last)
      .map(([index, nodes]) => ({ index, nodes, isSingle: body.isSingle }));
    return { items: listed, next: [...items.keys()].some((index) => index > last) ? last : null };
  }
}
