// Routing: resolves the edges of finished nodes, and starts or skips nodes whose edges are resolved. Works through a list without
// recursion: a chain of a thousand skipped nodes is one loop (I14). Before each evaluation it checks the work limit of the
// decision (S4). Items of loops are routed like the execution itself, each in its own frame.

import type { Condition, FirstJoin, PlanEdge } from '../plan/plan.ts';
import { isAmong } from '../retry/error-match.ts';
import { failureOf } from './data-entry.ts';
import { type Deciding, emit, hasWorkedEnough, lookAtFrame, lookAtLoop } from './deciding.ts';
import { allNodes, frameOf, isSingle, nodeAt, planNodeOf } from './frame.ts';
import { conditionRefusal } from './judging.ts';
import { settleLoops } from './looping.ts';
import { loseNode } from './losing.ts';
import { startNode } from './starting.ts';
import { type Frame, hasOpenEdges, isFinal, isTerminal, mayStart, type NodeState, type State } from './state.ts';

/** Goes on until nothing more follows, or a failure ends the execution. */
export function route(deciding: Deciding): void {
  const { finished, admissible, state } = deciding;
  for (;;) {
    const index = finished.shift() ?? nextAdmissible(deciding);
    if (index === undefined) {
      if (settleLoops(deciding)) continue;
      break;
    }
    const node = nodeAt(state, index)!;
    if (isFinal(node.status)) leave(deciding, index);
    else admit(deciding, index, node);
  }
  admissible.length = 0;
}

function nextAdmissible(deciding: Deciding): number | undefined {
  const { admissible, state } = deciding;
  while (mayStart(state) && admissible.length > 0) {
    const index = admissible.shift()!;
    const frame = frameOf(state, index);
    if (frame === undefined || !isReady(frame, index - frame.base)) continue;
    if (!hasWorkedEnough(deciding)) return index;
    deciding.isCutShort = true;
    break;
  }
  return undefined;
}

function leave(deciding: Deciding, index: number): void {
  const frame = frameOf(deciding.state, index)!;
  // A node that runs at the end leads nowhere, and its failure ends nothing.
  if (frame.graph.nodes[index - frame.base]!.aside) return;
  if (frame.owner >= 0) lookAtFrame(deciding, frame.base);
  // An item of a single step is over with the step: there are no edges.
  if (!isSingle(frame)) resolveEdges(deciding, frame, index);
}

/** Resolves the outgoing edges of a succeeded, failed or timed-out node, or those that an earlier decision left. */
function resolveEdges(deciding: Deciding, frame: Frame, index: number): void {
  const { state } = deciding;
  const { graph, base } = frame;
  const failed = nodeAt(state, index)!.status !== 'Succeeded';
  const { outgoing, routePolicy } = planNodeOf(state, index);
  const satisfied: number[] = [];
  const unsatisfied: number[] = [];
  let taken = 0;
  let failureEdgeTaken = false;
  let handled = false;
  let isCutShort = false;
  for (const edgeIndex of outgoing) {
    const edge = graph.edges[edgeIndex]!;
    const before = frame.edges[edgeIndex]!;
    if (before === 'unsatisfied') continue;
    if (before === 'pending') {
      const closed = routePolicy === 'firstMatch' ? taken > 0 : edge.implicit && failureEdgeTaken;
      const isOpen = !closed && matches(edge, failed) && isForError(frame, edge);
      isCutShort = isOpen && edge.condition !== null && hasWorkedEnough(deciding);
      if (isCutShort) break;
      if (!isOpen || !holds(deciding, edge.condition, index)) {
        unsatisfied.push(edgeIndex);
        continue;
      }
      satisfied.push(edgeIndex);
    }
    taken++;
    failureEdgeTaken ||= edge.when === 'failure';
    handled ||= edge.when !== 'success';
  }
  deciding.isCutShort ||= isCutShort;
  const unhandled = failed && !handled && !isCutShort && state.plan.onUnhandledFailure !== 'continue';
  if (satisfied.length + unsatisfied.length === 0 && !unhandled) return;
  const where = frame.owner < 0 ? {} : { frame: base };
  emit(deciding, {
    type: 'EdgesResolved',
    ...where,
    satisfied,
    unsatisfied,
    ...(unhandled ? { unhandled: index } : {}),
  });
  for (const edgeIndex of outgoing) deciding.admissible.push(base + graph.edges[edgeIndex]!.to);
}

function matches(edge: PlanEdge, failed: boolean): boolean {
  return edge.when === 'always' || (edge.when === 'failure') === failed;
}

/** An edge that names codes is for those errors only. */
function isForError({ graph, nodes, data }: Frame, { from, codes }: PlanEdge): boolean {
  if (codes === undefined) return true;
  const { error, status } = nodes[from]!;
  return isAmong(codes, failureOf(error!, status === 'TimedOut', data[graph.nodes[from]!.id]!));
}

function holds(deciding: Deciding, condition: Condition | null, node: number): boolean {
  return conditionRefusal(deciding, condition, node) === null;
}

/** After a pause, a reopen or an interrupted decision, every node is looked at once more. */
export function reconsiderAll(deciding: Deciding): void {
  const { state } = deciding;
  for (const [index] of allNodes(state)) {
    const frame = frameOf(state, index)!;
    if (hasOpenEdges(frame, index - frame.base)) deciding.finished.push(index);
    if (isReady(frame, index - frame.base)) deciding.admissible.push(index);
  }
  for (const { base } of state.frames.values()) lookAtFrame(deciding, base);
  for (const owner of state.plan.loops ?? []) lookAtLoop(deciding, owner);
}

/** A decision on this execution was interrupted and not resumed. */
export function isLeftOpen(state: State): boolean {
  if (state.status === 'Pending' || isTerminal(state.status)) return false;
  for (const [index] of allNodes(state)) {
    const frame = frameOf(state, index)!;
    const local = index - frame.base;
    if (hasOpenEdges(frame, local) || (mayStart(state) && isReady(frame, local))) return true;
  }
  return false;
}

/** Whether its edges decide if it starts or is skipped: all are resolved or, for a join of the first few, enough of them. */
function isReady({ graph, nodes, failed }: Frame, local: number): boolean {
  const { status, pendingEdges, satisfiedEdges } = nodes[local]!;
  if (status !== 'Pending' || failed !== null) return false;
  const { join, aside } = graph.nodes[local]!;
  if (aside) return false;
  if (pendingEdges === 0 || typeof join === 'string') return pendingEdges === 0;
  return satisfiedEdges >= join.first || satisfiedEdges + pendingEdges < join.first;
}

function admit(deciding: Deciding, index: number, node: NodeState): void {
  const { state } = deciding;
  const planNode = planNodeOf(state, index);
  const frame = frameOf(state, index)!;
  const reason = joinRefusal(frame, index - frame.base, node) ?? conditionRefusal(deciding, planNode.condition, index);
  if (reason !== null) return skipNode(deciding, frame, index, reason);
  if (typeof planNode.join === 'object') giveUpRest(deciding, frame, planNode.join, planNode.id);
  startNode(deciding, index);
}

/** The join is satisfied: nodes that lead only to it are given up, and their results do not count. */
function giveUpRest(deciding: Deciding, frame: Frame, { rest }: FirstJoin, joinId: string): void {
  const why = `"${joinId}" went on without it`;
  for (const local of rest) {
    const { status } = frame.nodes[local]!;
    if (status === 'Pending') skipNode(deciding, frame, frame.base + local, `not needed: ${why}`);
    else if (!isFinal(status)) loseNode(deciding, frame.base + local, why);
  }
}

function joinRefusal(frame: Frame, local: number, node: NodeState): string | null {
  const { graph, edges, nodes } = frame;
  const { join, incoming } = graph.nodes[local]!;
  if (incoming.length === 0 || join === 'resolved') return null;
  if (join === 'any') return node.satisfiedEdges > 0 ? null : 'no satisfied edge';
  if (typeof join === 'object') {
    if (node.satisfiedEdges >= join.first) return null;
    // How many edges were satisfied so far depends on timing; this text does not.
    return `fewer than ${join.first} satisfied edges are possible`;
  }
  if (node.satisfiedEdges === incoming.length) return null;
  const edge = incoming.find((candidate) => edges[candidate] === 'unsatisfied')!;
  const need = graph.edges[edge]!.from;
  return `cascade: "${graph.nodes[need]!.id}" ${described(nodes[need]!)}`;
}

function described({ status }: NodeState): string {
  switch (status) {
    case 'Skipped':
      return 'was skipped';
    case 'TimedOut':
      return 'timed out';
    case 'Succeeded':
      return 'did not lead here';
    default:
      return 'failed';
  }
}

function skipNode(deciding: Deciding, { graph, base, owner }: Frame, index: number, reason: string): void {
  emit(deciding, { type: 'NodeSkipped', node: index, reason });
  if (owner >= 0) lookAtFrame(deciding, base);
  for (const edge of graph.nodes[index - base]!.outgoing) deciding.admissible.push(base + graph.edges[edge]!.to);
}
