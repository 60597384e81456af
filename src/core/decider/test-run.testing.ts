// One execution in a test: node ids instead of indexes, and a clock that moves only on demand.

import type { Json, JsonObject } from '../json/json.ts';
import type { Plan } from '../plan/plan.ts';
import { nodeIndexOf } from '../plan/virtual-node.ts';
import type { Command } from './command.ts';
import { decide } from './decide.ts';
import type { Fact, FactType } from './fact.ts';
import { nodeAt } from './frame.ts';
import type { Input } from './input.ts';
import { nextDue } from './next-due.ts';
import { buildPlan, type PlanSpec, START } from './plan-builder.testing.ts';
import type { SignalType } from './signal-type.ts';
import { type ExecutionStart, initialState, type State } from './state.ts';

export const T0 = 1_000_000;
export const GRACE_MS = 5_000;

/** A fact of one type, also when its type is one of a union in the declaration. */
type FactOf<T extends FactType> = Fact & { readonly type: T };

type Failure = Partial<Omit<Extract<Input, { type: 'attemptFailed' }>, 'type' | 'node' | 'attempt'>>;

interface TestRun {
  readonly state: State;
  now: number;
  /** Facts and commands of all decisions so far. */
  readonly facts: Fact[];
  readonly commands: Command[];
  send(input: Input): readonly Fact[];
  succeed(nodeId: string, outputs?: Json): readonly Fact[];
  fail(nodeId: string, failure?: Failure): readonly Fact[];
  signal(signal: SignalType, payload?: JsonObject, signalId?: string): readonly Fact[];
  /** Moves time to the next timer, and rings it. */
  ring(): readonly Fact[];
  statusOf(nodeId: string): string;
  /** Every node's status, by id. */
  statuses(): Record<string, string>;
  reasonOf(nodeId: string): string;
  attemptsOf(nodeId: string): number;
  /** Parameters of every attempt that was handed to the driver. */
  paramsOf(nodeId: string): Json[];
  has(type: FactType, nodeId?: string): boolean;
  find<T extends FactType>(type: T, nodeId?: string): FactOf<T>;
}

export function startRun(spec: PlanSpec | Plan, start: Partial<ExecutionStart> = {}): TestRun {
  const run = createRun(spec, start);
  run.send({ type: 'started' });
  return run;
}

export function createRun(spec: PlanSpec | Plan, start: Partial<ExecutionStart> = {}): TestRun {
  const plan = 'planVersion' in spec ? spec : buildPlan(spec);
  const state = initialState(plan, { ...START, ...start });
  const indexOf = (nodeId: string) => nodeIndexOf(plan, nodeId);
  const node = (nodeId: string) => nodeAt(state, indexOf(nodeId))!;
  let signals = 0;
  const about = (type: FactType, nodeId?: string) => (fact: Fact) =>
    fact.type === type && (nodeId === undefined || ('node' in fact && fact.node === indexOf(nodeId)));
  const run: TestRun = {
    state,
    now: T0,
    facts: [],
    commands: [],
    send(input) {
      const decision = decide(state, input, { now: run.now, seed: 1, abortGraceMs: GRACE_MS });
      run.facts.push(...decision.transition.facts);
      run.commands.push(...decision.commands);
      return decision.transition.facts;
    },
    succeed(nodeId, outputs = {}) {
      const attempt = node(nodeId)?.attempts ?? 1;
      const bytes = JSON.stringify(outputs).length;
      return run.send({ type: 'attemptSucceeded', node: indexOf(nodeId), attempt, outputs, bytes });
    },
    fail(nodeId, failure = {}) {
      const error = { code: 'BROKEN', message: 'it broke' };
      const attempt = node(nodeId)?.attempts ?? 1;
      return run.send({
        type: 'attemptFailed',
        node: indexOf(nodeId),
        attempt,
        error,
        retryable: true,
        ...failure,
      });
    },
    signal(signal, payload = {}, signalId = `signal-${++signals}`) {
      return run.send({ type: 'signal', signalId, signal, payload });
    },
    ring() {
      const due = nextDue(state);
      if (due === null) throw new Error('no timer is set');
      run.now = Math.max(run.now, due);
      return run.send({ type: 'timerDue' });
    },
    statusOf: (nodeId) => node(nodeId).status,
    statuses: () => Object.fromEntries(plan.nodes.map(({ id }) => [id, node(id).status])),
    reasonOf: (nodeId) => node(nodeId).reason ?? '',
    attemptsOf: (nodeId) => node(nodeId).attempts,
    paramsOf: (nodeId) =>
      run.commands.flatMap((command) =>
        command.type === 'runAction' && command.node === indexOf(nodeId) ? [command.params] : [],
      ),
    has: (type, nodeId) => run.facts.some(about(type, nodeId)),
    find<T extends FactType>(type: T, nodeId?: string) {
      const found = run.facts.findLast(about(type, nodeId));
      if (found === undefined) throw new Error(`no ${type}${nodeId === undefined ? '' : ` of ${nodeId}`}`);
      return found as FactOf<T>;
    },
  };
  return run;
}
