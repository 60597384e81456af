// One decision in progress: the facts so far, and the state that they have already been folded into. Each fact is folded
// the moment it is emitted, so every rule sees what the rules before it decided, and a cascade of a thousand skips costs
// no more per fact than a single step.

import type { Json, JsonObject } from '../json/json.ts';
import { beginTransition, evolve } from './evolve.ts';
import type { Fact } from './fact.ts';
import type { DecideContext } from './input.ts';
import type { State } from './state.ts';

export interface Deciding {
  readonly state: State;
  readonly context: DecideContext;
  readonly now: number;
  readonly seq: number;
  readonly facts: Fact[];
  /** Parameters of the attempts started in this decision, by node id. */
  inputs: JsonObject | undefined;
  /** Nodes that have succeeded, failed or timed out and whose outgoing edges are not resolved yet. */
  readonly finished: number[];
  /** Nodes whose incoming edges may all be resolved now, in the order in which they were. */
  readonly admissible: number[];
}

export function beginDecision(state: State, context: DecideContext): Deciding {
  const now = Math.max(context.now, state.at);
  beginTransition(state, now);
  return { state, context, now, seq: state.seq, facts: [], inputs: undefined, finished: [], admissible: [] };
}

export function emit(deciding: Deciding, fact: Fact, params?: Json): void {
  deciding.facts.push(fact);
  evolve(deciding.state, fact, params);
}
