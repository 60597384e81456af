// Which way it goes: edges of a node that has finished, and nodes whose edges are all resolved (the admission table of
// the design, 3.3). Works through a list, never by recursion: a chain of a thousand skipped nodes is one loop (I14). Before
// each evaluation it looks whether there have been enough for one decision (S4).

import { evaluateCondition } from '../expression/evaluate.ts';
import type { Condition, PlanEdge } from '../plan/plan.ts';
import { whyAbsent } from './absence.ts';
import { type Deciding, emit, hasWorkedEnough } from './deciding.ts';
import { startNode } from './starting.ts';
import { isFinal, isTerminal, type NodeState, type State } from './state.ts';

/** Follows from what has finished until nothing more follows, or a failure asks for the end of the execution. */
export function route(deciding: Deciding): void {
  const { finished, admissible, state } = deciding;
  for (;;) {
    const node = finished.shift() ?? nextAdmissible(deciding);
    if (node === undefined) break;
    if (isFinal(state.nodes[node]!.status)) resolveEdges(deciding, node);
    else admit(deciding, node, state.nodes[node]!);
  }
  admissible.length = 0;
}

function nextAdmissible(deciding: Deciding): number | undefined {
  const { admissible, state } = deciding;
  while (mayStart(state) && admissible.length > 0) {
    const index = admissible.shift()!;
    const node = state.nodes[index]!;
    if (node.status !== 'Pending' || node.pendingEdges > 0) continue;
    if (!hasWorkedEnough(deciding)) return index;
    deciding.isCutShort = true;
    break;
  }
  return undefined;
}

/** Resolves the outgoing edges of a node that succeeded, failed or timed out; those that an earlier decision left of them. */
function resolveEdges(deciding: Deciding, index: number): void {
  const { state } = deciding;
  const failed = state.nodes[index]!.status !== 'Succeeded';
  const { outgoing, routePolicy } = state.plan.nodes[index]!;
  const satisfied: number[] = [];
  const unsatisfied: number[] = [];
  let taken = 0;
  let failureEdgeTaken = false;
  let handled = false;
  let isCutShort = false;
  for (const edgeIndex of outgoing) {
    const edge = state.plan.edges[edgeIndex]!;
    const before = state.edges[edgeIndex]!;
    if (before === 'unsatisfied') continue;
    if (before === 'pending') {
      const closed = routePolicy === 'firstMatch' ? taken > 0 : edge.implicit && failureEdgeTaken;
      const isOpen = !closed && matches(edge, failed);
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
  emit(deciding, { type: 'EdgesResolved', satisfied, unsatisfied, ...(unhandled ? { unhandled: index } : {}) });
  for (const edgeIndex of outgoing) deciding.admissible.push(state.plan.edges[edgeIndex]!.to);
}

function matches(edge: PlanEdge, failed: boolean): boolean {
  return edge.when === 'always' || (edge.when === 'failure') === failed;
}

function holds(deciding: Deciding, condition: Condition | null, node: number): boolean {
  return conditionRefusal(deciding, condition, node) === null;
}

/** A condition that throws or exceeds its budget is a warning, and false (000 §6.2). */
function conditionRefusal(deciding: Deciding, condition: Condition | null, node: number): string | null {
  if (condition === null) return null;
  const { state, context, spend } = deciding;
  const work = () => evaluateCondition(condition.expr, state.scope, context.limits, spend, whyAbsent(state));
  const { value, warning } = context.measure === undefined ? work() : context.measure('condition', work);
  if (warning !== undefined) {
    const message = `condition \`${condition.source}\` counts as false: ${warning}`;
    emit(deciding, { type: 'Warning', code: 'CONDITION_ERROR', message, node });
    return message;
  }
  return value ? null : `condition false: ${condition.source}`;
}

/** After a pause, a reopen or a decision that was cut short: look at every node once more. */
export function reconsiderAll(deciding: Deciding): void {
  const { state } = deciding;
  state.nodes.forEach((node, index) => {
    if (hasOpenEdges(state, index)) deciding.finished.push(index);
    if (node.status === 'Pending' && node.pendingEdges === 0) deciding.admissible.push(index);
  });
}

/** A decision on this execution was cut short, and nobody has gone on with it. */
export function isLeftOpen(state: State): boolean {
  if (isTerminal(state.status)) return false;
  return state.nodes.some(
    (node, index) =>
      hasOpenEdges(state, index) || (mayStart(state) && node.status === 'Pending' && node.pendingEdges === 0),
  );
}

/** The node has ended, and some of the edges that lead on from it are not resolved. */
function hasOpenEdges(state: State, index: number): boolean {
  const { status } = state.nodes[index]!;
  if (status !== 'Succeeded' && status !== 'Failed' && status !== 'TimedOut') return false;
  return state.plan.nodes[index]!.outgoing.some((edge) => state.edges[edge] === 'pending');
}

/** Nothing new starts in an execution that is paused, stopping, draining or over. */
function mayStart(state: State): boolean {
  return state.status === 'Running' && state.stopping === null && state.fatal.size === 0;
}

function admit(deciding: Deciding, index: number, node: NodeState): void {
  const planNode = deciding.state.plan.nodes[index]!;
  const reason = joinRefusal(deciding.state, index, node) ?? conditionRefusal(deciding, planNode.condition, index);
  if (reason !== null) return skipNode(deciding, index, reason);
  startNode(deciding, index);
}

function joinRefusal(state: State, index: number, node: NodeState): string | null {
  const { join, incoming } = state.plan.nodes[index]!;
  if (incoming.length === 0 || join === 'resolved') return null;
  if (join === 'any') return node.satisfiedEdges > 0 ? null : 'no satisfied edge';
  if (node.satisfiedEdges === incoming.length) return null;
  const edge = incoming.find((candidate) => state.edges[candidate] === 'unsatisfied')!;
  const need = state.plan.edges[edge]!.from;
  return `cascade: "${state.plan.nodes[need]!.id}" ${described(state.nodes[need]!)}`;
}

function described({ status }: NodeState): string {
  switch (status) {
    case 'Skipped':
      return 'was skipped';
    case 'TimedOut':
      return 'timed out';
    default:
      return 'failed';
  }
}

function skipNode(deciding: Deciding, index: number, reason: string): void {
  emit(deciding, { type: 'NodeSkipped', node: index, reason });
  for (const edge of deciding.state.plan.nodes[index]!.outgoing) {
    deciding.admissible.push(deciding.state.plan.edges[edge]!.to);
  }
}
