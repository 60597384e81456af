// Random programs with loops, races, event waits, early ends and undo; a script of every attempt's outcome; and the naive
// reference, which derives the fate of a program from its script alone, without the decider.

import fc from 'fast-check';
import { compiled, graph } from '../definition/definition.testing.ts';
import type { Plan } from '../plan/plan.ts';

export type Outcome = 'ok' | 'retryable' | 'terminal';

/** The outcomes of one node's attempts, in order; attempts beyond the list succeed. */
type Script = readonly Outcome[];

interface Undo {
  /** null: the stage cannot be undone. */
  readonly undo: Script | null;
}

type Stage = Undo &
  (
    | { readonly kind: 'action'; readonly script: Script }
    | {
        readonly kind: 'forEach';
        readonly parallel: number;
        readonly tolerate: number;
        /** By item; for a body also the outcomes of the second node, and of the node that repairs the first. */
        readonly items: readonly (readonly [Script, Script, Script])[];
        readonly hasBody: boolean;
      }
    | {
        readonly kind: 'repeat';
        readonly rounds: readonly Script[];
        /** The round after which the condition holds; more than the maximum: never. */
        readonly doneAfter: number;
        readonly delayMs: number;
        readonly collects: boolean;
      }
    | { readonly kind: 'wait'; readonly count: number; readonly expires: 'never' | 'fail' | 'continue' }
    | {
        readonly kind: 'race';
        readonly branches: readonly Script[];
        readonly first: number;
        readonly cancelRest: boolean;
      }
  );

export interface Program {
  readonly stages: readonly Stage[];
  readonly end: 'none' | 'Succeeded' | 'Failed';
  readonly release: Script | null;
}

export const MAX_ATTEMPTS = 2;
const EXPIRY_MS = 4_000;

const script: fc.Arbitrary<Script> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant<Outcome>('ok') },
    { weight: 2, arbitrary: fc.constant<Outcome>('retryable') },
    { weight: 1, arbitrary: fc.constant<Outcome>('terminal') },
  ),
  { maxLength: 3 },
);
const undo = { undo: fc.option(script, { freq: 3 }) };

const stage: fc.Arbitrary<Stage> = fc.oneof(
  fc.record({ kind: fc.constant('action' as const), script, ...undo }),
  fc.record({
    kind: fc.constant('forEach' as const),
    parallel: fc.integer({ min: 1, max: 4 }),
    tolerate: fc.integer({ min: 0, max: 6 }),
    items: fc.array(fc.tuple(script, script, script), { maxLength: 7 }),
    hasBody: fc.boolean(),
    ...undo,
  }),
  fc.record({
    kind: fc.constant('repeat' as const),
    rounds: fc.array(script, { minLength: 1, maxLength: 5 }),
    doneAfter: fc.integer({ min: 1, max: 6 }),
    delayMs: fc.constantFrom(0, 300),
    collects: fc.boolean(),
    ...undo,
  }),
  fc.record({
    kind: fc.constant('wait' as const),
    count: fc.integer({ min: 1, max: 3 }),
    expires: fc.constantFrom('never' as const, 'never' as const, 'fail' as const, 'continue' as const),
    ...undo,
  }),
  fc.record({
    kind: fc.constant('race' as const),
    branches: fc.array(fc.constantFrom<Script>([], ['retryable']), { minLength: 2, maxLength: 4 }),
    first: fc.integer({ min: 1, max: 3 }),
    cancelRest: fc.boolean(),
    ...undo,
  }),
);

export const randomProgram: fc.Arbitrary<Program> = fc.record({
  stages: fc.array(stage, { minLength: 1, maxLength: 5 }),
  end: fc.constantFrom('none' as const, 'none' as const, 'Succeeded' as const, 'Failed' as const),
  release: fc.option(script),
});

type Fields = Readonly<Record<string, unknown>>;

const policies = { policies: { retry: { maxAttempts: MAX_ATTEMPTS, baseDelayMs: 100, jitter: false } } };
const action = (id: string, fields: Fields = {}): Fields => ({ id, actionType: 'core.echo', ...policies, ...fields });
const edge = (targetNode: string, when = 'success') => ({ targetNode, when });

/** Written as a person would. */
export function planOf({ stages, end, release }: Program): Plan {
  const nodes: Fields[] = [];
  stages.forEach((one, at) => {
    const isLast = at === stages.length - 1;
    const next = isLast ? (end === 'none' ? [] : [edge('end')]) : [edge(entryOf(stages[at + 1]!, at + 1))];
    nodes.push(...stageNodes(one, at, { edges: next, ...(one.undo === null ? {} : { compensate: `u${at}` }) }));
    if (one.undo !== null) nodes.push(action(`u${at}`));
  });
  if (end !== 'none') {
    const told = end === 'Succeeded' ? { outputs: { early: true } } : { error: { code: 'REFUSED', message: 'no' } };
    nodes.push({ id: 'end', nodeType: 'end', status: end, ...told });
  }
  if (release !== null) nodes.push(action('release'));
  const startNode = entryOf(stages[0]!, 0);
  return compiled(graph(nodes, { startNode, ...(release === null ? {} : { finally: ['release'] }) }));
}

const entryOf = ({ kind }: Stage, at: number): string => (kind === 'race' ? `s${at}in` : `s${at}`);

function stageNodes(one: Stage, at: number, rest: Fields): Fields[] {
  const id = `s${at}`;
  switch (one.kind) {
    case 'action':
      return [action(id, rest)];
    case 'forEach': {
      const { parallel, tolerate, items } = one;
      const forEach = { items: items.map((_, item) => item), parallel, tolerate };
      if (!one.hasBody) return [action(id, { forEach, parameters: { item: '{{ item }}' }, ...rest })];
      const inner = [
        action('x', { edges: [edge('y'), edge('z', 'failure')], parameters: { item: '{{ item }}' } }),
        action('y', { parameters: { index: '{{ index }}' } }),
        action('z'),
      ].map((node) => ({ ...node, id: `${id}${node.id}`, ...renamedEdges(node, id) }));
      return [{ id, forEach, body: { startNode: `${id}x`, nodes: inner }, ...rest }];
    }
    case 'repeat': {
      const collect = one.collects ? { collect: '{{ [round] }}' } : {};
      const repeat = {
        until: 'output.done === true',
        maxRounds: one.rounds.length,
        delayMs: one.delayMs,
        ...collect,
      };
      return [action(id, { repeat, parameters: { round: '{{ round }}', last: '{{ previous }}' }, ...rest })];
    }
    case 'wait': {
      const { count, expires } = one;
      const onTimeout = expires === 'never' ? {} : { timeoutMs: EXPIRY_MS, onTimeout: expires };
      return [{ id, nodeType: 'wait', events: [{ type: id }], count, ...onTimeout, ...rest }];
    }
    case 'race': {
      const branches = one.branches.map((_, branch) => `${id}b${branch}`);
      const join = { first: Math.min(one.first, branches.length), cancelRest: one.cancelRest };
      return [
        action(`${id}in`, { edges: branches.map((branch) => edge(branch)) }),
        ...branches.map((branch) => action(branch, { edges: [edge(id)] })),
        action(id, { join, ...rest }),
      ];
    }
  }
}

const renamedEdges = (node: Fields, prefix: string): Fields => {
  const edges = (node.edges ?? []) as readonly { targetNode: string; when: string }[];
  return { edges: edges.map(({ targetNode, when }) => edge(`${prefix}${targetNode}`, when)) };
};

/** The script of a node, written or virtual. */
export function scriptOf({ stages, release }: Program, nodeId: string): Script {
  if (nodeId === 'release') return release ?? [];
  const [, letter, at, item, local] = /^([su])(\d+)(?:\[(\d+)\])?(?:\.?s?\d*(.*))?$/.exec(nodeId) ?? [];
  const one = stages[Number(at)]!;
  if (letter === 'u') return one.undo ?? [];
  if (one.kind === 'action') return one.script;
  if (one.kind === 'forEach') return one.items[Number(item)]![local === 'y' ? 1 : local === 'z' ? 2 : 0];
  if (one.kind === 'repeat') return one.rounds[Number(item)]!;
  return one.kind === 'race' && local?.startsWith('b') ? (one.branches[Number(local.slice(1))] ?? []) : [];
}

/** A node with this script succeeds. */
export function isFine(given: Script): boolean {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const outcome = given[attempt] ?? 'ok';
    if (outcome !== 'retryable') return outcome === 'ok';
  }
  return false;
}

const isItemFine = (hasBody: boolean, [x, y, z]: readonly [Script, Script, Script]): boolean =>
  hasBody ? (isFine(x) ? isFine(y) : isFine(z)) : isFine(x);

/** Whether the stage succeeds; `isHeeded`: somebody posts the event of the wait. */
export function stageEnd(one: Stage, isHeeded: boolean): 'Succeeded' | 'Failed' | 'TimedOut' {
  switch (one.kind) {
    case 'action':
      return isFine(one.script) ? 'Succeeded' : 'Failed';
    case 'forEach': {
      const failed = one.items.filter((item) => !isItemFine(one.hasBody, item)).length;
      return failed <= one.tolerate ? 'Succeeded' : 'Failed';
    }
    case 'repeat': {
      const rounds = one.rounds.slice(0, one.doneAfter);
      return rounds.every(isFine) && one.doneAfter <= one.rounds.length ? 'Succeeded' : 'Failed';
    }
    case 'wait':
      return isHeeded || one.expires === 'continue' ? 'Succeeded' : 'TimedOut';
    case 'race':
      return 'Succeeded';
  }
}

export interface Fate {
  readonly status: 'Succeeded' | 'Failed';
  /** The ends of the stages that are reached. */
  readonly stages: readonly ('Succeeded' | 'Failed' | 'TimedOut' | 'Skipped')[];
  /** The nodes that run at the end, in order, with their outcomes. */
  readonly undone: readonly { readonly nodeId: string; readonly status: 'Succeeded' | 'Failed' }[];
}

/** The naive reference. */
export function fateOf({ stages, end, release }: Program, isHeeded: (stage: number) => boolean): Fate {
  const ends: Fate['stages'][number][] = [];
  let isOver = false;
  stages.forEach((one, at) => {
    const how = isOver ? 'Skipped' : stageEnd(one, isHeeded(at));
    ends.push(how);
    isOver ||= how !== 'Succeeded';
  });
  const status = isOver || end === 'Failed' ? 'Failed' : 'Succeeded';
  const undone = stages.flatMap((one, at) =>
    status === 'Failed' && ends[at] === 'Succeeded' && one.undo !== null
      ? [{ nodeId: `u${at}`, script: one.undo }]
      : [],
  );
  const last = [...undone.reverse(), ...(release === null ? [] : [{ nodeId: 'release', script: release }])];
  return {
    status,
    stages: ends,
    undone: last.map(({ nodeId, script: given }) => ({ nodeId, status: isFine(given) ? 'Succeeded' : 'Failed' })),
  };
}
