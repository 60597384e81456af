// A frame is one running item or round of a loop: the states of its nodes and edges, and their data. The execution itself is the
// outermost frame. Frames come with NodesExpanded and go with ItemFinished, so memory follows the number of concurrent items, not
// of all items. All access to a node by number goes through here.

import { emptyRecord, type Json } from '../json/json.ts';
import type { PlanNode } from '../plan/plan.ts';
import { nodeIdAt, type Place, placeOf, planNodeAt } from '../plan/virtual-node.ts';
import { type Frame, initialNode, isFinal, type NodeState, type State } from './state.ts';

export function frameOf(state: State, index: number): Frame | undefined {
  if (index < state.plan.nodes.length) return state.root;
  const place = placeOf(state.plan, index);
  return place === null ? undefined : state.frames.get(place.base);
}

/** undefined: its item is over, and the node is gone. */
export function nodeAt(state: State, index: number): NodeState | undefined {
  if (index < state.nodes.length) return state.nodes[index];
  const frame = frameOf(state, index);
  return frame?.nodes[index - frame.base];
}

export const planNodeOf = (state: State, index: number): PlanNode => planNodeAt(state.plan, index);

export const idOf = (state: State, index: number): string => nodeIdAt(state.plan, index);

/** All existing nodes: the written ones, then those of running items. */
export function allNodes(state: State): Iterable<[number, NodeState]> {
  return state.frames.size === 0 ? state.nodes.entries() : withFrames(state);
}

function* withFrames(state: State): Generator<[number, NodeState]> {
  yield* state.nodes.entries();
  for (const frame of state.frames.values()) {
    for (const [local, node] of frame.nodes.entries()) yield [frame.base + local, node];
  }
}

export function* framesOf(state: State, owner: number): Generator<Frame> {
  for (const frame of state.frames.values()) if (frame.owner === owner) yield frame;
}

export function openFrame(state: State, { owner, body, item, base }: Omit<Place, 'local'>): void {
  const attempts = state.nodes[owner]!.loop!.attemptBase;
  const nodes = body.nodes.map(({ incoming }) => initialNode(incoming.length, attempts));
  state.frames.set(base, {
    base,
    owner,
    item,
    graph: body,
    nodes,
    edges: body.edges.map(() => 'pending'),
    data: emptyRecord<Json>(),
    unresolved: nodes.length,
    failed: null,
  });
}

/** Removes the frame. Nothing in it is in flight any more. */
export function closeFrame(state: State, frame: Frame): void {
  const owner = state.nodes[frame.owner]!;
  for (const { status, attempts } of frame.nodes) {
    owner.peak = Math.max(owner.peak, attempts);
    if (!isFinal(status) && status !== 'Pending') state.inFlight--;
  }
  state.frames.delete(frame.base);
}

export const isSingle = ({ graph }: Frame): boolean => 'isSingle' in graph && graph.isSingle === true;

/** The scope of expressions in this frame. */
export function scopeOfFrame(state: State, frame: Frame): Readonly<Record<string, unknown>> {
  if (frame.owner < 0) return state.scope;
  const bound = { ...state.scope, ...bindings(state, frame) };
  if (isSingle(frame)) return bound;
  // Only graphs have bodies.
  return { ...bound, context: { data: { ...state.data, ...frame.data } } };
}

function bindings(state: State, { owner, item }: Frame): Record<string, Json> {
  const { params, loop } = state.nodes[owner]!;
  if (state.plan.nodes[owner]!.step.kind === 'repeat') return { round: item, previous: loop!.last };
  const { items } = params as { items: Json[] };
  return { item: items[item]!, index: item };
}

export const scopeAt = (state: State, index: number): Readonly<Record<string, unknown>> =>
  scopeOfFrame(state, frameOf(state, index)!);
