// Random plans of all three formats and random scripts of events, for the decider's property tests. A plan is drawn as a list of
// drafts, each with its own parents, policy and outcomes, so that a failing case shrinks by dropping nodes. Conditions come from
// a small language whose meaning is kept beside the plan (`meaning`), so the naive reference needs no expression interpreter.

import fc from 'fast-check';
import type { Format, Plan, PlanNode, RetryPolicy, Step } from '../plan/plan.ts';
import { buildPlan, type EdgeSpec, type NodeSpec } from './plan-builder.testing.ts';

export type Outcome = 'ok' | 'notOk' | 'retryable' | 'terminal' | 'timeout';
type NodeKind = 'action' | 'badTemplate' | 'sleep' | 'webhook' | 'child' | 'fireAndForget';

/** The meaning of a condition, for the reference. */
type Meaning =
  | { readonly is: 'literal'; readonly value: boolean }
  | { readonly is: 'throws' }
  /** The node succeeded and said `ok: true`. */
  | { readonly is: 'ok'; readonly nodeId: string }
  | { readonly is: 'failed'; readonly nodeId: string }
  | { readonly is: 'skipped'; readonly nodeId: string };

export interface RandomPlan {
  readonly plan: Plan;
  readonly kinds: readonly NodeKind[];
  readonly meaning: ReadonlyMap<string, Meaning>;
  /** The outcomes of each node's attempts, in order; attempts beyond the list succeed. */
  readonly outcomes: readonly (readonly Outcome[])[];
}

export type ControlKind =
  | 'pause'
  | 'resume'
  | 'cancel'
  | 'giveUp'
  | 'retryStep'
  | 'forceRetryStep'
  | 'rerunFrom'
  | 'completeStep'
  | 'updateParams'
  | 'override'
  | 'escalate'
  | 'repeatSignal';

export interface Control {
  readonly step: number;
  readonly kind: ControlKind;
  readonly target: number;
}

/** Everything that is not in the plan: the order of completion, and people's actions. */
export interface Script {
  readonly seed: number;
  readonly controls: readonly Control[];
  /** The share of events, in percent, that must change nothing: duplicates, late results, early calls, early timers. */
  readonly noise: number;
  /** After a failure, every failed step is retried by force. */
  readonly retryAll?: boolean;
  /** Decisions are cut short after every evaluation. */
  readonly inSlices?: boolean;
}

interface LinkDraft {
  readonly parent: number;
  readonly when: 'success' | 'failure' | 'always';
  readonly condition: ConditionDraft;
}
type ConditionDraft = 'none' | 'true' | 'false' | 'throws' | 'ok' | 'failed' | 'skipped';

interface NodeDraft {
  readonly kind: NodeKind;
  readonly links: readonly LinkDraft[];
  readonly condition: ConditionDraft;
  readonly onFailure: number | null;
  readonly firstMatch: boolean;
  /** Graphs: the number of edges that are enough; 0: any, -1: all. */
  readonly join: number;
  readonly cancelRest: boolean;
  readonly codes: readonly string[] | null;
  readonly retry: RetryPolicy;
  readonly waitMs: number | null;
  /** The slack of a sleep's attempt timeout, possibly negative; null: no timeout. */
  readonly leewayMs: number | null;
  readonly outcomes: readonly Outcome[];
}

interface PlanShape {
  readonly formats?: readonly Format[];
  readonly minNodes?: number;
  readonly maxNodes?: number;
  /** Only plans whose final node statuses do not depend on the order of completion. */
  readonly orderFree?: boolean;
  readonly timeouts?: boolean;
  /** Graphs with joins of all and of the first few, and with edges by code. */
  readonly joins?: boolean;
}

const conditionDraft: fc.Arbitrary<ConditionDraft> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<ConditionDraft>('none') },
  { weight: 2, arbitrary: fc.constantFrom<ConditionDraft>('true', 'ok') },
  { weight: 1, arbitrary: fc.constantFrom<ConditionDraft>('false', 'failed', 'skipped', 'throws') },
);

const linkDraft: fc.Arbitrary<LinkDraft> = fc.record({
  parent: fc.nat(1000),
  when: fc.oneof(
    { weight: 4, arbitrary: fc.constant<LinkDraft['when']>('success') },
    { weight: 1, arbitrary: fc.constantFrom<LinkDraft['when']>('failure', 'always') },
  ),
  condition: conditionDraft,
});

const retryPolicy: fc.Arbitrary<RetryPolicy> = fc.record({
  maxAttempts: fc.integer({ min: 0, max: 4 }),
  baseDelayMs: fc.integer({ min: 1, max: 400 }),
  backoffFactor: fc.constantFrom(1, 1.5, 2, 3),
  maxDelayMs: fc.constantFrom(null, 300),
  jitter: fc.boolean(),
});

function nodeDraft(failures: boolean, orderFree: boolean, joins: boolean): fc.Arbitrary<NodeDraft> {
  const good: fc.Arbitrary<Outcome> = fc.constantFrom<Outcome>('ok', 'ok', 'ok', 'notOk');
  const any: fc.Arbitrary<Outcome> = fc.oneof(
    { weight: 4, arbitrary: good },
    { weight: 3, arbitrary: fc.constantFrom<Outcome>('retryable', 'terminal', 'timeout') },
  );
  const plain: NodeKind[] = ['sleep', 'webhook', 'child', 'fireAndForget'];
  return fc.record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constant<NodeKind>('action') },
      { weight: 2, arbitrary: fc.constantFrom<NodeKind>(...plain, ...(failures ? (['badTemplate'] as const) : [])) },
    ),
    links: fc.array(linkDraft, { maxLength: 3 }),
    condition: conditionDraft,
    onFailure: fc.option(fc.nat(1000), { freq: 2 }),
    firstMatch: fc.boolean(),
    join: joins ? fc.constantFrom(0, 0, -1, 1, 1, 2, 3) : fc.constant(0),
    cancelRest: fc.boolean(),
    codes: joins ? fc.constantFrom(null, ['*'], ['TIMEOUT'], ['TERMINAL', 'OTHER']) : fc.constant(null),
    retry: retryPolicy,
    // A webhook that may time out before it is called depends on the order of events.
    waitMs: orderFree ? fc.constant(null) : fc.option(fc.integer({ min: 1, max: 3_000 }), { freq: 3 }),
    leewayMs: orderFree ? fc.constant(null) : fc.option(fc.constantFrom(-200, -1, 0, 1), { freq: 2 }),
    outcomes: fc.array(failures ? any : good, { maxLength: 4 }),
  });
}

export function randomPlan(shape: PlanShape = {}): fc.Arbitrary<RandomPlan> {
  const formats = shape.formats ?? (['graph', 'pipeline', 'plan'] as const);
  return fc.constantFrom(...formats).chain((format) => {
    const orderFree = shape.orderFree === true;
    const failures = !orderFree || format === 'pipeline';
    return fc
      .record({
        drafts: fc.array(nodeDraft(failures, orderFree, shape.joins === true), {
          minLength: shape.minNodes ?? 1,
          maxLength: shape.maxNodes ?? 40,
          size: 'max',
        }),
        reversed: fc.boolean(),
        timeoutMs: shape.timeouts === true ? fc.option(fc.integer({ min: 1, max: 6_000 })) : fc.constant(null),
      })
      .map(({ drafts, reversed, timeoutMs }) => assemble(format, drafts, reversed, timeoutMs));
  });
}

export function randomScript(kinds: readonly ControlKind[]): fc.Arbitrary<Script> {
  const control =
    kinds.length === 0
      ? fc.constant([])
      : fc.array(fc.record({ step: fc.nat(40), kind: fc.constantFrom(...kinds), target: fc.nat(1000) }), {
          maxLength: 5,
        });
  return fc.record({ seed: fc.nat(0x7fffffff), controls: control, noise: fc.constantFrom(0, 10, 40) });
}

function assemble(
  format: Format,
  drafts: readonly NodeDraft[],
  reversed: boolean,
  timeoutMs: number | null,
): RandomPlan {
  const meaning = new Map<string, Meaning>();
  const specs = drafts.map((draft, at): NodeSpec => {
    const base: NodeSpec = { id: `n${at}`, retry: draft.retry, ...stepOf(format, draft) };
    return format === 'graph'
      ? { ...base, ...routes(drafts, at, meaning), routePolicy: draft.firstMatch ? 'firstMatch' : 'parallel' }
      : { ...base, ...needs(format, drafts, at, meaning) };
  });
  const order = drafts.map((_, at) => at);
  // Definition order is not topological order: half of the plans are reversed.
  if (reversed) order.reverse();
  const plan = buildPlan({ format, nodes: order.map((at) => specs[at]!), timeoutMs });
  const random: RandomPlan = {
    plan: format === 'graph' ? withJoins(plan, (at) => drafts[order[at]!]!) : plan,
    kinds: order.map((at) => kindOf(format, drafts[at]!)),
    meaning,
    outcomes: order.map((at) => drafts[at]!.outcomes),
  };
  return Object.assign(random, { [fc.toStringMethod]: () => summary(random) });
}

function withJoins(plan: Plan, draftOf: (node: number) => NodeDraft): Plan {
  const nodes = plan.nodes.map((node, index) => {
    const { join, cancelRest } = draftOf(index);
    const first = Math.min(join, node.incoming.length);
    if (first === 0) return node;
    return { ...node, join: first < 0 ? ('all' as const) : { first, rest: cancelRest ? restOf(plan, index) : [] } };
  });
  return { ...plan, nodes };
}

/** Whether every path from the node ends at the target, and there is one. */
function restOf({ nodes, edges }: Plan, target: number): number[] {
  const leadsOnlyThere = (node: number): boolean =>
    node === target ||
    (nodes[node]!.outgoing.length > 0 && nodes[node]!.outgoing.every((edge) => leadsOnlyThere(edges[edge]!.to)));
  return nodes.flatMap((_, node) => (node !== target && leadsOnlyThere(node) ? [node] : []));
}

/** A failing case prints one line per node instead of the whole plan. */
function summary({ plan, kinds, outcomes }: RandomPlan): string {
  const lines = plan.nodes.slice(0, 30).map((node, index) => {
    const edges = node.outgoing.map((at) => {
      const { to, when, condition, implicit } = plan.edges[at]!;
      return `${implicit ? 'onFailure' : when}${condition === null ? '' : `(${condition.source})`} ${plan.nodes[to]!.id}`;
    });
    const { maxAttempts, baseDelayMs, backoffFactor } = node.policy.retry;
    const own = node.condition === null ? '' : ` if (${node.condition.source})`;
    const kind = node.step.kind === 'action' ? kinds[index] : JSON.stringify(node.step);
    const limit = node.policy.timeoutMs === null ? '' : ` within ${node.policy.timeoutMs} ms`;
    return `  ${node.id} ${kind}${limit}${own} [${outcomes[index]!.join()}] ${maxAttempts}×${baseDelayMs}^${backoffFactor} ${
      node.routePolicy
    } -> ${edges.join(', ')}`;
  });
  return `${plan.format}, timeout ${plan.timeoutMs}\n${lines.join('\n')}\n`;
}

/** Pipelines have no subworkflows. */
function kindOf(format: Format, draft: NodeDraft): NodeKind {
  const isChild = draft.kind === 'child' || draft.kind === 'fireAndForget';
  return format === 'pipeline' && isChild ? 'action' : draft.kind;
}

function stepOf(format: Format, draft: NodeDraft): Pick<NodeSpec, 'step' | 'parameters' | 'retry' | 'timeoutMs'> {
  const root = format === 'plan' ? 'inputs' : 'trigger';
  const kind = kindOf(format, draft);
  const child = (waitForCompletion: boolean): Step => ({
    kind: 'subworkflow',
    workflowId: 'child',
    version: null,
    waitForCompletion,
  });
  switch (kind) {
    case 'action':
      return { parameters: { value: `{{ ${root}.value }}` } };
    case 'badTemplate':
      return { parameters: { value: `{{ ${root}.missing.deeper }}` } };
    case 'sleep': {
      const durationMs = draft.waitMs ?? 500;
      const step: Step = { kind: 'sleep', durationMs };
      return draft.leewayMs === null ? { step } : { step, timeoutMs: Math.max(1, durationMs + draft.leewayMs) };
    }
    case 'webhook':
      return { step: { kind: 'webhook', timeoutMs: draft.waitMs } };
    case 'child':
    case 'fireAndForget':
      return { step: child(kind === 'child'), retry: { ...draft.retry, maxAttempts: 1 } };
  }
}

/** A sleep whose attempts all time out, because it is longer than they may take. */
export function isCutSleep({ step, policy }: PlanNode): boolean {
  return step.kind === 'sleep' && Number(step.durationMs) > (policy.timeoutMs ?? Infinity);
}

/** Parents are earlier drafts, near ones more often, so that both long chains and wide joins appear. */
function parentOf(link: LinkDraft, at: number): number {
  const half = link.parent >> 1;
  return link.parent % 2 === 0 ? at - 1 - (half % Math.min(at, 3)) : half % at;
}

function routes(drafts: readonly NodeDraft[], at: number, meaning: Map<string, Meaning>): Partial<NodeSpec> {
  const edges: EdgeSpec[] = [];
  for (let to = at + 1; to < drafts.length; to++) {
    for (const link of drafts[to]!.links) {
      if (parentOf(link, to) !== at) continue;
      const source = conditionOn('graph', drafts, at, link.condition, meaning);
      const { codes } = drafts[at]!;
      edges.push({
        to: `n${to}`,
        when: link.when,
        ...(source === null ? {} : { condition: source }),
        ...(codes === null || link.when !== 'failure' ? {} : { codes }),
      });
    }
  }
  const later = drafts.length - at - 1;
  const onFailure = drafts[at]!.onFailure;
  return onFailure === null || later === 0 ? { edges } : { edges, onFailure: `n${at + 1 + (onFailure % later)}` };
}

function needs(
  format: Format,
  drafts: readonly NodeDraft[],
  at: number,
  meaning: Map<string, Meaning>,
): Partial<NodeSpec> {
  const parents = at === 0 ? [] : [...new Set(drafts[at]!.links.map((link) => parentOf(link, at)))];
  const about = parents[0];
  const draft = drafts[at]!.condition;
  const literal = draft === 'ok' || draft === 'failed' || draft === 'skipped' ? 'true' : draft;
  const source = conditionOn(format, drafts, about ?? 0, about === undefined ? literal : draft, meaning);
  return { needs: parents.map((parent) => `n${parent}`), ...(source === null ? {} : { condition: source }) };
}

/** Conditions look upstream only, and only at documented data of a node. */
function conditionOn(
  format: Format,
  drafts: readonly NodeDraft[],
  about: number,
  draft: ConditionDraft,
  meaning: Map<string, Meaning>,
): string | null {
  if (draft === 'none') return null;
  const nodeId = `n${about}`;
  const isAction = kindOf(format, drafts[about]!) === 'action';
  const [source, means] = phrase(format, isAction ? draft : simpler(draft), nodeId);
  meaning.set(source, means);
  return source;
}

function simpler(draft: Exclude<ConditionDraft, 'none'>): 'true' | 'false' | 'throws' {
  return draft === 'false' || draft === 'throws' ? draft : 'true';
}

function phrase(format: Format, draft: Exclude<ConditionDraft, 'none'>, nodeId: string): [string, Meaning] {
  if (draft === 'throws') return ["'a'.repeat(1000000000) == 'b'", { is: 'throws' }];
  if (draft === 'true' || draft === 'false') return [draft, { is: 'literal', value: draft === 'true' }];
  if (format === 'graph') {
    if (draft === 'failed') return [`context.data['${nodeId}'].errorNode === '${nodeId}'`, { is: 'failed', nodeId }];
    return [`context.data['${nodeId}'].ok === true`, { is: 'ok', nodeId }];
  }
  if (format === 'plan') return ['inputs.go === true', { is: 'literal', value: true }];
  if (draft === 'ok') return [`tasks.${nodeId}.body.ok == true`, { is: 'ok', nodeId }];
  if (draft === 'failed') return [`tasks.${nodeId}.status == 'failed'`, { is: 'failed', nodeId }];
  return [`tasks.${nodeId}.status == 'skipped'`, { is: 'skipped', nodeId }];
}
