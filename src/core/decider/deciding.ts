// One decision in progress: its facts so far, already folded into the state. Each fact is folded when it is emitted, so every
// rule sees the decisions of the rules before it, and a cascade of a thousand skips costs no more per fact than a single step.
// Limits bound one evaluation, but a decision may need thousands. So it counts their effort and leaves the rest to the next
// decision when that is enough (S4). The rest is not recorded: the state shows it.

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
  /** Parameters of the attempts that this decision started, by node id. */
  inputs: JsonObject | undefined;
  /** Succeeded, failed or timed-out nodes whose outgoing edges are not resolved yet. */
  readonly finished: number[];
  /** Nodes whose incoming edges may all be resolved now, in order of resolution. */
  readonly admissible: number[];
  /** Loops that may start more items or be over, and items that may be over. */
  loops: Set<number> | null;
  frames: Set<number> | null;
  /** Virtual nodes whose attempts ended in this decision. Their items may be over, and the nodes gone, before the decision is. */
  ended: Map<number, NodeState> | null;
  /** The effort of evaluations and parameters so far; 1 is the limit of one evaluation. */
  effort: number;
  readonly spend: (effort: number) => void;
  /** Something is left to route. */
  isCutShort: boolean;
}

/** Half of the worst evaluation, plus one that was already begun: well below 50 ms. */
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

/** Whether the decision has reached its limit: nothing more is evaluated or rendered in it. */
export function hasWorkedEnough({ effort, context }: Deciding): boolean {
  return effort > (context.effortPerDecision ?? EFFORT_PER_DECISION);
}

/**
 * Counts the size of parameters, because they are written to the journal. Returns their approximate length, or a bound if
 * they are too long.
 */
export function spendOnParameters(deciding: Deciding, params: Json): number {
  const { maxBytes } = deciding.context.limits ?? DEFAULT_LIMITS;
  const bytes = weightOf(params, maxBytes);
  deciding.effort += bytes / maxBytes;
  return bytes;
}

/** Why parameters of this size cannot be kept; null: they can. */
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
