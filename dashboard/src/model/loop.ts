// The items of a forEach and the rounds of a repeat, as the journal tells them; and a node inside one of them, which the written
// plan does not list.

import { nodeIndexOf, planNodeAt } from '../../../src/core/plan/virtual-node.ts';
import type { GraphJson } from '../../../src/protocol/execution.ts';
import { attemptsOf, type Journal, typeOfStep } from './journal.ts';
import { plural } from './text.ts';

export interface LoopItem {
  readonly item: number;
  readonly status: 'Running' | 'Succeeded' | 'Failed';
  readonly error?: { readonly code: string; readonly message: string };
}

/** In the order of the items; those that have not begun are left out. */
export function itemsOf(journal: Journal, ownerId: string, count = Number.POSITIVE_INFINITY): LoopItem[] {
  const owner = journal.plan.nodes.findIndex(({ id }) => id === ownerId);
  const items = new Map<number, LoopItem>();
  for (const { seq, facts } of journal.transitions) {
    for (const [index, fact] of facts.entries()) {
      if (seq + index >= count) break;
      if (fact.type === 'NodesReset' && fact.nodes.includes(owner)) forgetFailures(items);
      if (!('node' in fact) || fact.node !== owner) continue;
      if (fact.type === 'NodesExpanded') for (const item of fact.items) items.set(item, { item, status: 'Running' });
      if (fact.type === 'ItemFinished') {
        const { item, error } = fact;
        items.set(item, error === undefined ? { item, status: 'Succeeded' } : { item, status: 'Failed', error });
      }
    }
  }
  return [...items.values()].toSorted((a, b) => a.item - b.item);
}

/** What came of a loop that is over; undefined: it is none, or has not begun. */
export function endedLoopText(journal: Journal, nodeId: string, count?: number): string | undefined {
  const kind = journal.plan.nodes.find(({ id }) => id === nodeId)?.step.kind;
  if (kind !== 'forEach' && kind !== 'repeat') return undefined;
  const items = itemsOf(journal, nodeId, count);
  if (items.length === 0) return undefined;
  const failed = items.filter(({ status }) => status === 'Failed').length;
  const what = plural(items.length, kind === 'forEach' ? 'item' : 'round');
  return failed === 0 ? what : `${what}, ${failed} failed`;
}

/** A loop that is retried runs only what has not succeeded. */
function forgetFailures(items: Map<number, LoopItem>): void {
  for (const [item, { status }] of items) if (status !== 'Succeeded') items.delete(item);
}

type GraphNode = GraphJson['nodes'][number];

/** A node of one item or round, e.g. `ship[3]` or `ship[3].charge`; null: the plan has no such node. */
export function nodeInLoop(journal: Journal, nodeId: string, count?: number): GraphNode | null {
  const index = nodeIndexOf(journal.plan, nodeId);
  if (index < journal.plan.nodes.length) return null;
  const attempts = attemptsOf(journal, count).filter((each) => each.nodeId === nodeId);
  const last = attempts.at(-1);
  const status = last === undefined ? 'Pending' : last.status === 'RetriableFailure' ? 'Retrying' : last.status;
  const startedAt = attempts[0]?.startedAt;
  return {
    id: nodeId,
    type: typeOfStep(planNodeAt(journal.plan, index).step),
    status: status as GraphNode['status'],
    attempts: attempts.length,
    ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt).toISOString() }),
    ...(last?.endedAt === undefined ? {} : { completedAt: new Date(last.endedAt).toISOString() }),
  };
}

/** The nodes of one item, by the names under which they are chosen. */
export function nodesOfItem(journal: Journal, ownerId: string, item: number): string[] {
  const step = journal.plan.nodes.find(({ id }) => id === ownerId)?.step;
  if (step === undefined || (step.kind !== 'forEach' && step.kind !== 'repeat')) return [];
  const name = `${ownerId}[${item}]`;
  return step.body.isSingle ? [name] : step.body.nodes.map(({ id }) => `${name}.${id}`);
}
