// Puts the plan together from a draft whose names are resolved. Runs over broken drafts too, for the problems that
// compiling their expressions finds; the plan it returns then is thrown away.

import type { Condition, Plan, PlanEdge, PlanNode, Step } from '../plan/plan.ts';
import type { Steps } from '../steps/steps.ts';
import type { Draft, DraftEdge, DraftNode } from './draft.ts';
import type { ExpressionCompiler } from './expressions.ts';
import type { Links } from './link.ts';

/** Stands for a step that could not be read, in a plan that nobody will see. */
const UNKNOWN_STEP: Step = { kind: 'action', actionType: '' };

/** Everything of a node but what depends on the other nodes. */
type Part = Omit<PlanNode, 'incoming' | 'outgoing' | 'retain'>;

export function* assemble(draft: Draft, links: Links, expressions: ExpressionCompiler): Steps<Omit<Plan, 'checksum'>> {
  const outputs = yield* expressions.outputs();
  const edges = yield* assembleEdges(draft.edges, links, expressions);
  const parts: Part[] = [];
  for (const [index, node] of draft.nodes.entries()) parts.push(yield* assembleNode(node, index, expressions));
  const incoming: number[][] = parts.map(() => []);
  const outgoing: number[][] = parts.map(() => []);
  edges.forEach(({ from, to }, index) => {
    outgoing[from]!.push(index);
    incoming[to]!.push(index);
  });
  const keep = new Set(draft.snapshot.keysToInclude);
  const keepAll = expressions.readsAll || draft.snapshot.mode === 'Full';
  const nodes = parts.map((part, index): PlanNode => {
    const isEnd = outputs === null && mayBeEnd(part, outgoing[index]!, edges);
    const retain = keepAll || isEnd || expressions.read.has(index) || keep.has(part.id);
    return { ...part, incoming: incoming[index]!, outgoing: outgoing[index]!, retain };
  });
  const { format, id, onUnhandledFailure, timeoutMs, vars, scope, snapshot, namedVersion } = draft;
  const start = nodes.flatMap((node, index) => (node.incoming.length === 0 ? [index] : []));
  return {
    planVersion: 1,
    format,
    id,
    nodes,
    edges,
    start,
    onUnhandledFailure,
    timeoutMs,
    outputs,
    vars,
    scope,
    snapshot,
    namedVersion,
  };
}

/** Conditions of edges that lead nowhere are compiled as well, for their problems. */
function* assembleEdges(
  drafts: readonly DraftEdge[],
  links: Links,
  expressions: ExpressionCompiler,
): Steps<PlanEdge[]> {
  const conditions = new Map<DraftEdge, Condition | null>();
  for (const edge of drafts) {
    yield;
    conditions.set(edge, expressions.edgeCondition(edge));
  }
  return links.edges.map(({ from, to, draft }): PlanEdge => {
    return { from, to, when: draft.when, condition: conditions.get(draft)!, implicit: draft.implicit };
  });
}

function* assembleNode(node: DraftNode, index: number, expressions: ExpressionCompiler): Steps<Part> {
  yield;
  const { id, policy, join, routePolicy, dispatch, parameters } = node;
  return {
    id,
    step: yield* assembleStep(node, index, expressions),
    parameters: parameters === null ? null : yield* expressions.nodeTemplate(index, parameters),
    policy,
    join,
    condition: expressions.nodeCondition(index),
    routePolicy,
    dispatch,
  };
}

function* assembleStep({ step }: DraftNode, index: number, expressions: ExpressionCompiler): Steps<Step> {
  if (step === null) return UNKNOWN_STEP;
  if (step.kind !== 'sleep' || typeof step.durationMs === 'number') return step as Step;
  const template = yield* expressions.nodeTemplate(index, step.durationMs);
  return template === null ? UNKNOWN_STEP : { kind: 'sleep', durationMs: template };
}

/** A succeeded node that leads nowhere gives its outputs to the execution. Some edges are only known when it runs. */
function mayBeEnd(node: Part, outgoing: readonly number[], edges: readonly PlanEdge[]): boolean {
  if (node.routePolicy === 'firstMatch') return true;
  return !outgoing.some((index) => {
    const { when, condition } = edges[index]!;
    return when !== 'failure' && condition === null;
  });
}
