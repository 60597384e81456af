// An execution at any of its facts: the journal folded by the engine's own `evolve`, so the page shows what the engine believed
// then (I15). Also previews a retry with the engine's own decider on a copy.

import { decide } from '../../../src/core/decider/decide.ts';
import { beginTransition, evolve } from '../../../src/core/decider/evolve.ts';
import type { Fact } from '../../../src/core/decider/fact.ts';
import { signalRefusal } from '../../../src/core/decider/signal.ts';
import { type ExecutionStart, initialState, type State } from '../../../src/core/decider/state.ts';
import type { Plan, Step } from '../../../src/core/plan/plan.ts';
import { nodeIdAt } from '../../../src/core/plan/virtual-node.ts';
import type { GraphJson } from '../../../src/protocol/execution.ts';
import { asideOf, waitText } from '../../../src/protocol/step-text.ts';
import type { TimelineAttempt } from './waterfall.ts';

export interface Journal {
  readonly plan: Plan;
  readonly start: ExecutionStart;
  readonly transitions: readonly JournalTransition[];
  readonly waits: readonly { readonly nodeId: string; readonly attempt: number; readonly waitedMs: number }[];
}

export interface JournalTransition {
  readonly seq: number;
  readonly at: number;
  readonly facts: readonly Fact[];
}

export const factCount = ({ transitions }: Journal): number => {
  const last = transitions.at(-1);
  return last === undefined ? 0 : last.seq + last.facts.length;
};

/** Transitions that continue those that are known; what is known already is left out. */
export function withTransitions(journal: Journal, more: readonly JournalTransition[]): Journal {
  const known = journal.transitions.at(-1)?.seq ?? -1;
  const fresh = more.filter(({ seq }) => seq > known);
  return fresh.length === 0 ? journal : { ...journal, transitions: [...journal.transitions, ...fresh] };
}

/** The state after the first `count` facts; all of them where it is absent. */
export function foldTo(journal: Journal, count = Number.POSITIVE_INFINITY): State {
  const state = initialState(journal.plan, journal.start);
  for (const { seq, at, facts } of journal.transitions) {
    if (seq >= count) break;
    beginTransition(state, at);
    for (const fact of facts.slice(0, count - seq)) evolve(state, fact);
  }
  return state;
}

/** When the fact before `count` was recorded. */
export function timeAt({ transitions }: Journal, count: number): number | undefined {
  return transitions.findLast(({ seq }) => seq < count)?.at;
}

const iso = (at: number | null): string | undefined => (at === null ? undefined : new Date(at).toISOString());

/** Of the newest attempt of each failed or retried node, by the fold. */
export function graphOf(state: State): GraphJson {
  const { plan } = state;
  const asides = asideOf(plan);
  return {
    status: state.status,
    nodes: plan.nodes.map(({ id, step }, index) => {
      const node = state.nodes[index]!;
      return {
        id,
        type: typeOfStep(step),
        status: node.status,
        attempts: node.attempts,
        ...defined({
          reason: node.reason ?? undefined,
          startedAt: iso(node.firstStartedAt ?? node.startedAt),
          completedAt: node.status === 'Retrying' ? undefined : iso(node.endedAt),
          error: node.error ?? undefined,
          until: iso(node.until),
          childExecutionId: node.childId ?? undefined,
          ...loopOf(state, index),
          waits: node.status === 'Waiting' ? waitText(step) : undefined,
          ...asides.get(index),
        }),
      };
    }),
    edges: plan.edges.map(({ from, to, when, condition }, index) => ({
      from: plan.nodes[from]!.id,
      to: plan.nodes[to]!.id,
      when,
      ...defined({ condition: condition?.source }),
      state: state.edges[index]!,
    })),
  };
}

export const typeOfStep = (step: Step): string => (step.kind === 'action' ? step.actionType : step.kind);

/** How far a loop is: the items of a forEach, the rounds of a repeat. */
function loopOf({ plan, nodes, frames }: State, index: number): Pick<GraphJson['nodes'][number], 'items' | 'rounds'> {
  const { loop } = nodes[index]!;
  if (loop === null) return {};
  if (plan.nodes[index]!.step.kind === 'repeat') return { rounds: loop.next };
  const running = [...frames.values()].filter(({ owner }) => owner === index).map(({ item }) => item);
  return { items: { count: loop.count, succeeded: loop.succeeded, failed: loop.failed, running } };
}

function defined<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Every attempt with its true times, for the timeline. */
export function attemptsOf(journal: Journal, count = Number.POSITIVE_INFINITY): TimelineAttempt[] {
  const waited = new Map(journal.waits.map(({ nodeId, attempt, waitedMs }) => [`${attempt} ${nodeId}`, waitedMs]));
  const attempts = new Map<string, Writable<TimelineAttempt>>();
  for (const { seq, at, facts } of journal.transitions) {
    for (const [index, fact] of facts.entries()) {
      if (seq + index >= count) return [...attempts.values()];
      if (!('attempt' in fact)) continue;
      const nodeId = nodeIdAt(journal.plan, fact.node);
      const key = `${fact.attempt} ${nodeId}`;
      const known = attempts.get(key);
      const status = STATUS_AFTER[fact.type];
      if (known === undefined) {
        attempts.set(key, {
          nodeId,
          attempt: fact.attempt,
          status,
          startedAt: at,
          endedAt: undefined,
          waitedMs: waited.get(key),
        });
      } else known.status = status;
      if (ENDS.has(fact.type)) attempts.get(key)!.endedAt ??= at;
    }
  }
  return [...attempts.values()];
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };
type AttemptFact = Extract<Fact, { readonly attempt: number }>['type'];

const STATUS_AFTER: Readonly<Record<AttemptFact, string>> = {
  NodeStarted: 'Running',
  NodeSleeping: 'Sleeping',
  NodeWaiting: 'Waiting',
  NodeSucceeded: 'Succeeded',
  NodeFailed: 'Failed',
  NodeTimedOut: 'TimedOut',
  NodeCancelled: 'Cancelled',
  RetryScheduled: 'RetriableFailure',
};
const ENDS: ReadonlySet<string> = new Set([
  'NodeSucceeded',
  'NodeFailed',
  'NodeTimedOut',
  'NodeCancelled',
  'RetryScheduled',
]);

type Signal = Parameters<typeof signalRefusal>[1];

/** Why the engine would refuse it now; null: it would not. */
export function refusalOfSignal(journal: Journal, signal: Signal): string | null {
  return signalRefusal(foldTo(journal), signal);
}

export interface Preview {
  /** Nodes that run again, and those whose results stay. */
  readonly again: readonly string[];
  readonly kept: readonly string[];
  /** Nodes that failed and do not run again: they may fail the execution once more. */
  readonly failed: readonly string[];
  readonly refused: string | null;
}

/** What a signal would do, decided by the engine's own decider on a copy of the state. */
export function previewOf(journal: Journal, { signal, payload }: Signal, now: number): Preview {
  const state = foldTo(journal);
  const refused = signalRefusal(state, { signal, payload });
  if (refused !== null) return { again: [], kept: [], failed: [], refused };
  const before = state.nodes.map(({ status }) => status);
  const input = { type: 'signal', signalId: 'preview', signal, payload } as const;
  const { transition } = decide(state, input, { now, seed: 0, abortGraceMs: 0 });
  const reset = new Set(transition.facts.flatMap((fact) => (fact.type === 'NodesReset' ? fact.nodes : [])));
  for (const fact of transition.facts) if (fact.type === 'NodeStarted') reset.add(fact.node);
  const names = journal.plan.nodes.map(({ id }) => id);
  const staying = (...statuses: readonly string[]) =>
    names.filter((_, index) => !reset.has(index) && statuses.includes(before[index]!));
  return {
    again: names.filter((_, index) => reset.has(index)),
    kept: staying('Succeeded'),
    failed: staying('Failed', 'TimedOut'),
    refused: null,
  };
}
