// Folds the facts of loops into the state: items and rounds that begin and end. Part of evolve.ts, the only mutator (I15).

import { bodyOf } from '../plan/virtual-node.ts';
import type { FactOf } from './fact.ts';
import { closeFrame, framesOf, openFrame } from './frame.ts';
import type { LoopState, NodeState, State } from './state.ts';

export function nodesExpanded(state: State, { node: owner, items }: FactOf<'NodesExpanded'>): void {
  const loop = state.nodes[owner]!.loop!;
  const body = bodyOf(state.plan.nodes[owner]!)!;
  for (const item of items) {
    if (loop.again[0] === item) loop.again.shift();
    else loop.next = item + 1;
    loop.active++;
    openFrame(state, { owner, body, item, base: body.base + item * body.nodes.length });
  }
}

/** A failed item or round may run again when the loop is retried. */
export function itemFinished(state: State, fact: FactOf<'ItemFinished'>): void {
  const { node: owner, item, error, bytes } = fact;
  const loop = state.nodes[owner]!.loop!;
  const body = bodyOf(state.plan.nodes[owner]!)!;
  const frame = state.frames.get(body.base + item * body.nodes.length)!;
  const result = fact.result ?? frame.data[body.nodes[0]!.id] ?? null;
  closeFrame(state, frame);
  loop.active--;
  if (error !== undefined) {
    loop.failed++;
    loop.left.push(item);
    loop.errors.push({ index: item, code: error.code, message: error.message });
    return;
  }
  loop.succeeded++;
  loop.bytes += bytes;
  state.contextBytes += bytes;
  if (state.plan.nodes[owner]!.step.kind === 'repeat') {
    loop.last = result;
    loop.collected.push(...(fact.collected ?? []));
    return;
  }
  while (loop.results.length <= item) loop.results.push(null);
  loop.results[item] = result;
}

/** A retried loop keeps its successes and runs failed items again, before those that never began. */
export function beginLoop(node: NodeState, count: number): void {
  if (node.loop === null) {
    const none = { count, next: 0, active: 0, succeeded: 0, failed: 0, bytes: 0, last: null };
    node.loop = { attemptBase: node.peak, again: [], left: [], results: [], errors: [], collected: [], ...none };
    return;
  }
  const { loop } = node;
  if (loop.left.length === 0) return;
  loop.again = loop.left.sort((a, b) => a - b);
  loop.left = [];
  loop.errors = [];
  loop.failed = 0;
  loop.attemptBase = node.peak;
}

/** From now on its results are the node's data. */
export function endLoop(state: State, owner: number, node: NodeState): void {
  for (const frame of [...framesOf(state, owner)]) closeFrame(state, frame);
  state.contextBytes -= node.loop!.bytes;
  node.loop = null;
  node.params = undefined;
}

/** Items in progress run again if the loop is retried. */
export function breakLoop(state: State, owner: number, loop: LoopState): void {
  for (const frame of [...framesOf(state, owner)]) {
    closeFrame(state, frame);
    loop.left.push(frame.item);
  }
  loop.active = 0;
}
