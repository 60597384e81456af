// Random workflows of all three formats, each with a script of the outcome of every attempt of every node. Small on purpose: the
// point here is not what a plan can say (the decider's own tests check that), but when things happen.

import type { Format } from '../../src/core/plan/plan.ts';
import type { Language } from './language.ts';
import type { Random } from './random.ts';

/** `crash`: ends the process of its runner. `badData`: a result that the database refuses. */
export type AttemptOutcome = 'ok' | 'retryable' | 'terminal' | 'timeout' | 'crash' | 'badData';

type NodeKind = 'action' | 'sleep' | 'webhook' | 'child' | 'fireAndForget';

export interface NodeSpec {
  readonly id: string;
  readonly kind: NodeKind;
  readonly needs: readonly { readonly id: string; readonly when: 'success' | 'failure' | 'always' }[];
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  /** The outcome of attempt n is at n − 1; attempts beyond the list succeed. */
  readonly outcomes: readonly AttemptOutcome[];
  readonly sleepMs: number;
  readonly child: WorkflowSpec | null;
}

export interface WorkflowSpec {
  readonly id: string;
  readonly format: Format;
  readonly nodes: readonly NodeSpec[];
  readonly timeoutMs: number | null;
  /** Used as it is written, with its own script; the workflow has no other nodes. */
  readonly language?: Language;
}

export interface WorkflowShape {
  readonly id: string;
  /** Workflows that this one may start; none = it has no subworkflows. */
  readonly children: readonly WorkflowSpec[];
  readonly webhooks: boolean;
  /** A long chain of nodes, which makes the journal long enough for a checkpoint. */
  readonly long?: boolean;
}

export function randomWorkflow(random: Random, shape: WorkflowShape): WorkflowSpec {
  const format: Format = shape.webhooks ? 'pipeline' : random.pick(['graph', 'graph', 'pipeline', 'plan']);
  const count = shape.long ? random.between(16, 24) : random.between(1, 6);
  const nodes: NodeSpec[] = [];
  for (let index = 0; index < count; index++) nodes.push(randomNode(random, format, shape, nodes));
  return { id: shape.id, format, nodes, timeoutMs: null };
}

/** A workflow that sleeps longer than its time limit. */
export function overdueWorkflow(random: Random, id: string): WorkflowSpec {
  const timeoutMs = random.between(300, 4_000);
  const asleep = { ...plainNode('n1', 'sleep'), needs: [{ id: 'n0', when: 'success' as const }], sleepMs: 40_000 };
  return { id, format: 'graph', nodes: [plainNode('n0', 'action'), asleep], timeoutMs };
}

/** A workflow whose second node is poison. */
export function poisonWorkflow(random: Random, id: string): WorkflowSpec {
  const poison = random.pick(['crash', 'badData'] as const);
  const culprit = { ...plainNode('n1', 'action'), needs: [{ id: 'n0', when: 'success' as const }] };
  const outcomes = Array.from({ length: 9 }, () => poison);
  return { id, format: 'graph', nodes: [plainNode('n0', 'action'), { ...culprit, outcomes }], timeoutMs: null };
}

/** A workflow that waits for a child, which waits for a call that never comes. The parent times out and cancels the child. */
export function cascadeWorkflow(random: Random, id: string): WorkflowSpec {
  const parent = { ...plainNode('n0', 'child'), child: blockedWorkflow('blocked-child') };
  return { id, format: 'graph', nodes: [parent], timeoutMs: random.between(800, 6_000) };
}

/** A workflow that waits for a call that never comes. */
export function blockedWorkflow(id: string): WorkflowSpec {
  return { id, format: 'pipeline', nodes: [plainNode('n0', 'webhook')], timeoutMs: null };
}

function plainNode(id: string, kind: NodeKind): NodeSpec {
  return { id, kind, needs: [], maxAttempts: 1, baseDelayMs: 100, outcomes: [], sleepMs: 0, child: null };
}

function randomNode(random: Random, format: Format, shape: WorkflowShape, earlier: readonly NodeSpec[]): NodeSpec {
  const kind = randomKind(random, format, shape, earlier.length);
  const child = kind === 'child' || kind === 'fireAndForget' ? random.pick(shape.children) : null;
  const maxAttempts = format === 'plan' ? 3 : random.pick([1, 1, 2, 3]);
  return {
    id: `n${earlier.length}`,
    kind,
    needs: earlier.length === 0 ? [] : randomNeeds(random, format, earlier, shape.long === true),
    maxAttempts,
    baseDelayMs: random.pick([20, 200, 900, 3_000]),
    outcomes: kind === 'action' ? randomOutcomes(random, maxAttempts) : [],
    sleepMs: random.pick([0, 30, 400, 1_200, 3_000, 7_000]),
    child,
  };
}

function randomKind(random: Random, format: Format, { children, webhooks }: WorkflowShape, at: number): NodeKind {
  if (webhooks && random.chance(0.35)) return 'webhook';
  if (format === 'graph' && children.length > 0 && random.chance(0.3)) {
    return random.pick(['child', 'child', 'fireAndForget']);
  }
  return random.chance(at === 0 ? 0.1 : 0.25) ? 'sleep' : 'action';
}

/** Mostly successes; failures last for a while, or are final. */
function randomOutcomes(random: Random, maxAttempts: number): AttemptOutcome[] {
  if (random.chance(0.6)) return [];
  const failures = random.between(1, maxAttempts);
  return Array.from({ length: failures }, () =>
    random.pick(['retryable', 'retryable', 'retryable', 'timeout', 'terminal'] as const),
  );
}

function randomNeeds(random: Random, format: Format, earlier: readonly NodeSpec[], chain: boolean): NodeSpec['needs'] {
  const last = earlier.at(-1)!.id;
  if (chain) return [{ id: last, when: format === 'graph' ? 'always' : 'success' }];
  const parents = new Set([random.chance(0.5) ? last : random.pick(earlier).id]);
  if (random.chance(0.4)) parents.add(random.pick(earlier).id);
  return [...parents].map((id) => {
    const when =
      format === 'graph' ? random.pick(['success', 'success', 'success', 'failure', 'always'] as const) : 'success';
    return { id, when };
  });
}
