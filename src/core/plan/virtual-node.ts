// Numbers and names of virtual nodes, which a loop adds while it runs. The plan alone determines the number of every node of
// every item or round: after the written nodes, each loop has a range of numbers, `size` of them per item. So a fact about a
// virtual node can be read without folding the journal before it. Pure.

import type { Body, Plan, PlanNode } from './plan.ts';

/** Where a virtual node belongs. */
export interface Place {
  /** The loop node. */
  readonly owner: number;
  readonly body: Body;
  /** The index of the item, or the round. */
  readonly item: number;
  /** The number of the item's first node. */
  readonly base: number;
  /** The node's place in the body. */
  readonly local: number;
}

export function placeOf(plan: Plan, index: number): Place | null {
  for (const owner of plan.loops ?? []) {
    const body = bodyOf(plan.nodes[owner]!)!;
    const size = body.nodes.length;
    const from = index - body.base;
    if (from < 0 || from >= size * body.limit) continue;
    const item = Math.floor(from / size);
    return { owner, body, item, base: body.base + item * size, local: from % size };
  }
  return null;
}

export function bodyOf({ step }: PlanNode): Body | null {
  return step.kind === 'forEach' || step.kind === 'repeat' ? step.body : null;
}

export function planNodeAt(plan: Plan, index: number): PlanNode {
  if (index < plan.nodes.length) return plan.nodes[index]!;
  const { body, local } = placeOf(plan, index)!;
  return body.nodes[local]!;
}

/** `ship`, `ship[3]`, or `ship[3].charge` where the loop has a body of several nodes. */
export function nodeIdAt(plan: Plan, index: number): string {
  if (index < plan.nodes.length) return plan.nodes[index]!.id;
  const place = placeOf(plan, index);
  if (place === null) return `#${index}`;
  const item = `${plan.nodes[place.owner]!.id}[${place.item}]`;
  return place.body.isSingle ? item : `${item}.${place.body.nodes[place.local]!.id}`;
}

const VIRTUAL = /^(.*)\[(\d{1,9})\](?:\.(.*))?$/s;

/** The index of the node with this id; -1: none. */
export function nodeIndexOf(plan: Plan, id: unknown): number {
  const written = plan.nodes.findIndex((node) => node.id === id);
  if (written >= 0 || plan.loops === undefined || typeof id !== 'string') return written;
  const [, ownerId, item, local] = VIRTUAL.exec(id) ?? [];
  const owner = plan.nodes.find((node) => node.id === ownerId);
  const body = owner === undefined ? null : bodyOf(owner);
  if (body === null || Number(item) >= body.limit) return -1;
  const place = body.isSingle ? (local === undefined ? 0 : -1) : body.nodes.findIndex((node) => node.id === local);
  return place < 0 ? -1 : body.base + Number(item) * body.nodes.length + place;
}
