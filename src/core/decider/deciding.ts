// One decision in progress: the facts so far, and the state that they have already been folded into. Each fact is folded
// the moment it is emitted, so every rule sees what the rules before it decided, and a cascade of a thousand skips costs
// no more per fact than a single step.
//
// One evaluation is bounded by its limits; a decision may need thousands. So it counts what they take and, when that is
// enough, leaves the rest for the decision after it (S4). What is left is not recorded: the state shows it.

import { DEFAULT_LIMITS } from '../expression/evaluation.ts';
import { type Json, type JsonObject, weightOf } from '../json/json.ts';
import { beginTransition, evolve } from './evolve.ts';
import type { Fact } from './fact.ts';
import { nodeAt } from './frame.ts';
import type { DecideContext } from './input.ts';
import type { NodeState, State } from './state.ts';

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
  /** Loops that may start more items, or be over; and items that may be. */
  loops: Set<number> | null;
  frames: Set<number> | null;
  /** Virtual nodes whose attempts ended in this decision: their item may be over, and they gone, before it is. */
  ended: Map<number, NodeState> | null;
  /** What evaluations and parameters have taken so far; 1 is all that one evaluation may take. */
  effort: number;
  readonly spend: (effort: number) => void;
  /** Something is left to route. */
  isCutShort: boolean;
}

/** Half of the worst evaluation, and one more that was begun before: well below 50 ms. */
const EFFORT_PER_DECISION = 0.5;

export function beginDecision(state: State, context: DecideContext): Deciding {
  const now = Math.max(context.now, state.at);
  beginTransition(state, now);
  const deciding: Deciding = {
    state,
    context,
    now,
    seq: state.seq,
    facts: [],
    inputs: undefined,
    finished: [],
    admissible: [],
    loops: null,
    frames: null,
    ended: null,
    effort: 0,
    spend: (effort) => {
      deciding.effort += effort;
    },
    isCutShort: false,
  };
  return deciding;
}

/** Enough for one decision: nothing more is evaluated or rendered in it. */
export function hasWorkedEnough({ effort, context }: Deciding): boolean {
  return effort > (context.effortPerDecision ?? EFFORT_PER_DECISION);
}

/** Parameters are written to the journal, whoever made them: their size counts, too. About how long they are, or how much too long. */
export function spendOnParameters(deciding: Deciding, params: Json): number {
  const { maxBytes } = deciding.context.limits ?? DEFAULT_LIMITS;
  const bytes = weightOf(params, maxBytes);
  deciding.effort += bytes / maxBytes;
  return bytes;
}

/** Why parameters of this size may not be kept; null: they may. */
export function parameterRefusal({ context, state }: Deciding, bytes: number): string | null {
  const { maxBytes, maxRenderedBytes = DEFAULT_LIMITS.maxRenderedBytes } = context.limits ?? DEFAULT_LIMITS;
  if (bytes > maxBytes) return `the parameters have more than ${maxBytes} bytes (expression.maxBytes)`;
  if (state.renderedBytes + bytes <= maxRenderedBytes) return null;
  return `the parameters of all nodes have more than ${maxRenderedBytes} bytes together (expression.maxRenderedBytes)`;
}

export function emit(deciding: Deciding, fact: Fact, params?: Json): void {
  deciding.facts.push(fact);
  if ('attempt' in fact && fact.node >= deciding.state.nodes.length) remember(deciding, fact.node);
  evolve(deciding.state, fact, params);
}

/** The loop may start more items, or be over. */
export function lookAtLoop(deciding: Deciding, owner: number): void {
  deciding.loops ??= new Set();
  deciding.loops.add(owner);
}

/** The item or round may be over. */
export function lookAtFrame(deciding: Deciding, base: number): void {
  deciding.frames ??= new Set();
  deciding.frames.add(base);
}

function remember(deciding: Deciding, index: number): void {
  deciding.ended ??= new Map();
  deciding.ended.set(index, nodeAt(deciding.state, index)!);
}
