// Assembles the plan from a draft with resolved names. Also runs over broken drafts, to find problems in their expressions; that
// plan is discarded.

import type { Body, Condition, EventSource, Join, Plan, PlanEdge, PlanNode, Step } from '../plan/plan.ts';
import type { Steps } from '../steps/steps.ts';
import { templateReferences } from '../template/compile.ts';
import type { Template } from '../template/template.ts';
import { WAITING_POLICY } from './defaults.ts';
import type { Draft, DraftBody, DraftEdge, DraftJoin, DraftLoop, DraftNode, DraftWait } from './draft.ts';
import { type Enclosing, ExpressionCompiler } from './expressions.ts';
import { checkJoins } from './join-check.ts';
import { MAX_ITEMS } from './limits.ts';
import { type Links, link } from './link.ts';
import { checkList } from './loop.ts';
import { checkShape } from './shape.ts';

/** A placeholder for a step that could not be read, in a plan that is never used. */
const UNKNOWN_STEP: Step = { kind: 'action', actionType: '' };

/** The parts of a node that do not depend on other nodes. */
type Part = Omit<PlanNode, 'join' | 'incoming' | 'outgoing' | 'retain'>;

export function* assemble(draft: Draft, links: Links, expressions: ExpressionCompiler): Steps<Omit<Plan, 'checksum'>> {
  let nextBase = draft.nodes.length;
  const outputs = yield* expressions.outputs();
  const edges = yield* assembleEdges(draft.edges, links, expressions);
  const parts: Part[] = [];
  for (const [index, node] of draft.nodes.entries()) {
    const part = yield* assembleNode(node, index, expressions);
    parts.push(
      node.loop === undefined ? part : yield* assembleLoop(draft, node.loop, part, index, expressions, nextBase),
    );
    nextBase += virtualNodes(node);
  }
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
    const retain = keepAll || isEnd || expressions.read.has(index) || keep.has(part.id) || part.step.kind === 'end';
    const { id, step, parameters, policy, condition, routePolicy, dispatch } = part;
    const join = assembleJoin(draft.nodes[index]!.join, index, outgoing, edges);
    const nodeLinks = { incoming: incoming[index]!, outgoing: outgoing[index]! };
    const made = { id, step, parameters, policy, join, condition, routePolicy, dispatch, ...nodeLinks, retain };
    return { ...made, ...asideOf(index, links) };
  });
  const { format, id, onUnhandledFailure, timeoutMs, vars, scope, snapshot, namedVersion } = draft;
  const start = nodes.flatMap((node, index) => (node.incoming.length === 0 && !node.aside ? [index] : []));
  const earlyWaits = nodes.flatMap((node, index) => (isEarly(node) ? [index] : []));
  const loops = draft.nodes.flatMap((node, index) => (node.loop === undefined ? [] : [index]));
  return {
    planVersion: 1,
    format,
    id,
    nodes,
    edges,
    start,
    ...(loops.length === 0 ? {} : { loops }),
    ...(expressions.readsAttempt ? { readsAttempt: true as const } : {}),
    ...(earlyWaits.length === 0 ? {} : { earlyWaits }),
    ...(links.finally.length === 0 ? {} : { finally: links.finally }),
    ...(draft.compensationTimeoutMs === undefined ? {} : { compensationTimeoutMs: draft.compensationTimeoutMs }),
    onUnhandledFailure,
    timeoutMs,
    outputs,
    vars,
    scope,
    snapshot,
    ...(draft.contract === undefined ? {} : { contract: draft.contract }),
    namedVersion,
  };
}

/** The number of virtual nodes of a loop. */
function virtualNodes({ loop }: DraftNode): number {
  return loop === undefined ? 0 : loop.limit * (loop.body?.nodes.length ?? 1);
}

function asideOf(index: number, { undo, asides }: Links): Pick<PlanNode, 'compensate' | 'aside'> {
  const arc = undo.find(({ from }) => from === index);
  return {
    ...(arc === undefined ? {} : { compensate: arc.to }),
    ...(asides.has(index) ? { aside: true as const } : {}),
  };
}

/** Also compiles the conditions of edges that lead nowhere, to find their problems. */
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
    const edge = { from, to, when: draft.when, condition: conditions.get(draft)!, implicit: draft.implicit };
    return draft.codes === undefined ? edge : { ...edge, codes: draft.codes.map(({ value }) => value) };
  });
}

function assembleJoin(
  join: DraftJoin,
  index: number,
  outgoing: readonly (readonly number[])[],
  edges: readonly PlanEdge[],
): Join {
  if (typeof join === 'string') return join;
  return { first: join.first.value, rest: join.cancelRest ? leadingOnlyTo(index, outgoing, edges) : [] };
}

/** Nodes with a path to this one and to nothing else. */
function leadingOnlyTo(
  target: number,
  outgoing: readonly (readonly number[])[],
  edges: readonly PlanEdge[],
): readonly number[] {
  const found = new Set([target]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    outgoing.forEach((own, index) => {
      if (own.length > 0 && own.every((edge) => found.has(edges[edge]!.to))) found.add(index);
    });
  }
  found.delete(target);
  return [...found].sort((a, b) => a - b);
}

function* assembleNode(node: DraftNode, index: number, expressions: ExpressionCompiler): Steps<Part> {
  yield;
  const { id, policy, routePolicy, dispatch, parameters } = node;
  return {
    id,
    step: yield* assembleStep(node, index, expressions),
    parameters: parameters === null ? null : yield* expressions.nodeTemplate(index, parameters, boundBy(node)),
    policy,
    condition: expressions.nodeCondition(index),
    routePolicy,
    dispatch,
  };
}

/** The extra names that a loop's own step can read. */
function boundBy({ loop }: DraftNode): readonly string[] {
  if (loop === undefined) return [];
  return loop.kind === 'forEach' ? ['item', 'index'] : ['round', 'previous'];
}

/** The node's own step, or its inline workflow, becomes the body; the node itself is the loop around it. */
function* assembleLoop(
  draft: Draft,
  loop: DraftLoop,
  part: Part,
  index: number,
  expressions: ExpressionCompiler,
  base: number,
): Steps<Part> {
  const node = draft.nodes[index]!;
  const bound = boundBy(node);
  const inner =
    loop.body === null
      ? single(part)
      : yield* assembleBody(draft, loop.body, { compiler: expressions, node: index, bound });
  const body = { ...inner, base, limit: loop.limit };
  const step = yield* loopStep(loop, body, index, expressions);
  return { ...part, step: step ?? UNKNOWN_STEP, parameters: null, policy: WAITING_POLICY, dispatch: null };
}

function* loopStep(loop: DraftLoop, body: Body, index: number, expressions: ExpressionCompiler): Steps<Step | null> {
  if (loop.kind === 'forEach') {
    const items = yield* expressions.nodeTemplate(index, loop.items);
    checkList(items, loop.items.at, loop.limit, expressions.findings);
    return items === null ? null : { kind: 'forEach', items, parallel: loop.parallel, tolerate: loop.tolerate, body };
  }
  const until = expressions.until(index, loop.until, ['output', 'round']);
  const after = ['output', 'round', 'previous'];
  let collect: Template | null = null;
  if (loop.collect !== null) {
    collect = yield* expressions.nodeTemplate(index, loop.collect, after);
    checkList(collect, loop.collect.at, MAX_ITEMS, expressions.findings);
  }
  if (until === null) return null;
  const { delayMs, backoffFactor, maxDelayMs } = loop;
  return { kind: 'repeat', until, delayMs, backoffFactor, maxDelayMs, collect, body };
}

type Inner = Omit<Body, 'base' | 'limit'>;

function single(part: Part): Inner {
  const alone = { join: 'any' as const, condition: null, incoming: [], outgoing: [], retain: false };
  return { isSingle: true, nodes: [{ ...part, ...alone }], edges: [], start: [0], outputs: null };
}

function* assembleBody(outer: Draft, body: DraftBody, enclosing: Enclosing): Steps<Inner> {
  const { findings } = enclosing.compiler;
  const { startNode, nodes, edges, outputs } = body;
  // Nodes that run at the end belong to the workflow, not to each item.
  const draft: Draft = { ...outer, startNode, nodes, edges, outputs, finally: [] };
  for (const { id, idAt } of nodes) {
    if (!enclosing.compiler.links.byName.has(id)) continue;
    const message = `the name \`${id}\` is taken by a node outside of the body`;
    findings.error('DUPLICATE_ID', idAt, message, 'give each node a name of its own');
  }
  const links = link(draft, findings);
  checkJoins(draft, links, findings);
  const expressions = new ExpressionCompiler(draft, links, checkShape(draft, links, findings), findings, enclosing);
  const made = yield* assemble(draft, links, expressions);
  return { isSingle: false, nodes: made.nodes, edges: made.edges, start: made.start, outputs: made.outputs };
}

function* assembleStep(node: DraftNode, index: number, expressions: ExpressionCompiler): Steps<Step> {
  const { step } = node;
  if (step === null) return UNKNOWN_STEP;
  if (step.kind === 'wait') return yield* assembleWait(step, index, expressions);
  if (step.kind !== 'sleep' || typeof step.durationMs === 'number') return step as Step;
  const template = yield* expressions.nodeTemplate(index, step.durationMs, boundBy(node));
  return template === null ? UNKNOWN_STEP : { kind: 'sleep', durationMs: template };
}

function* assembleWait(step: DraftWait, index: number, expressions: ExpressionCompiler): Steps<Step> {
  const events: EventSource[] = [];
  for (const { type, at, key } of step.events) {
    events.push({ type, at, key: key === null ? null : yield* expressions.nodeTemplate(index, key) });
  }
  const until = step.until === null ? null : expressions.until(index, step.until, ['events']);
  return { ...step, events, until };
}

/** Values that are known before an execution starts. */
const KNOWN_AT_START = ['trigger', 'spec', 'vars', 'principal', 'execution.id'];

/** Its keys read only values that are known at the start, so events count for it from the start. */
function isEarly({ step }: PlanNode): boolean {
  if (step.kind !== 'wait' || step.events.length === 0) return false;
  return step.events.every(
    ({ key }) => key === null || [...templateReferences(key)].every(({ path }) => isKnownAtStart(path.join('.'))),
  );
}

const isKnownAtStart = (path: string): boolean => KNOWN_AT_START.some((known) => `${path}.`.startsWith(`${known}.`));

/** A succeeded node that leads nowhere gives its outputs to the execution. Some edges are only known at run time. */
function mayBeEnd(node: Part, outgoing: readonly number[], edges: readonly PlanEdge[]): boolean {
  if (node.routePolicy === 'firstMatch') return true;
  return !outgoing.some((index) => {
    const { when, condition } = edges[index]!;
    return when !== 'failure' && condition === null;
  });
}
