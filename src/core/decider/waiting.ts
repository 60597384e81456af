// A wait for one of several things: its callback, an event, or its timeout. Early arrivals are kept, and nothing counts twice
// (I10). Events are matched where they come in, by (tenant, type, key); here they only arrive.

import type { Json, JsonObject } from '../json/json.ts';
import { sha256Hex } from '../plan/checksum.ts';
import type { EventSource, Plan, Step } from '../plan/plan.ts';
import { TemplateError } from '../template/render.ts';
import { beginDecision, type Deciding, emit } from './deciding.ts';
import type { FactOf, Subscription } from './fact.ts';
import { nodeAt, planNodeOf, scopeAt } from './frame.ts';
import { judge } from './judging.ts';
import { failAttempt, succeedAttempt } from './outcome.ts';
import { render } from './render.ts';
import { type Arrival, type ExecutionStart, initialState } from './state.ts';

export type Wait = Extract<Step, { kind: 'wait' }>;

/** The maximum number of events of one wait; more indicate a mistake in its condition. */
const MAX_ARRIVALS = 1_000;

/** Events between the start of the execution and the wait count, because their keys are known from the start. */
export function subscribeEarly(deciding: Deciding): void {
  for (const index of deciding.state.plan.earlyWaits ?? []) subscribe(deciding, index);
}

/** The same before the first decision, for the accepting process. A key that cannot be rendered fails the wait later. */
export function earlySubscriptions(plan: Plan, start: ExecutionStart): FactOf<'EventsAwaited'>[] {
  const deciding = beginDecision(initialState(plan, start), { now: 0, seed: 0, abortGraceMs: 0 });
  subscribeEarly(deciding);
  return deciding.facts as FactOf<'EventsAwaited'>[];
}

/** null: subscribed. Otherwise the problem with a key. */
function subscribe(deciding: Deciding, index: number): TemplateError | null {
  const { events } = planNodeOf(deciding.state, index).step as Wait;
  const subscriptions: Subscription[] = [];
  for (const event of events) {
    const key = keyOf(deciding, index, event);
    if (key instanceof TemplateError) return key;
    subscriptions.push({ type: event.type, key });
  }
  emit(deciding, { type: 'EventsAwaited', node: index, subscriptions });
  return null;
}

/** `orderId=o7`, as matching events are looked up; empty: every event of the type. */
function keyOf(deciding: Deciding, index: number, { at, key }: EventSource): string | TemplateError {
  if (at === null || key === null) return '';
  const value = render(deciding, index, key);
  return value instanceof TemplateError ? value : eventKey(at, value);
}

/** Long keys are replaced by their hash, because keys are looked up in an index. */
export function eventKey(at: string, value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${at}=${text.length > MAX_KEY_LENGTH ? sha256Hex(text) : text}`;
}

const MAX_KEY_LENGTH = 200;

const MAX_KEYS = 200;
const MAX_DEPTH = 4;

/** All keys that a wait for this event could have named: its values by path. */
export function eventKeys(data: Json): string[] {
  const keys = [''];
  const collect = (value: Json, path: readonly string[]): void => {
    if (keys.length > MAX_KEYS) return;
    if (value === null || typeof value !== 'object') keys.push(eventKey(path.join('.'), value));
    else if (path.length < MAX_DEPTH)
      for (const [name, inner] of Object.entries(value)) collect(inner as Json, [...path, name]);
  };
  if (data !== null && typeof data === 'object') collect(data, []);
  return keys;
}

export function startWait(deciding: Deciding, index: number, attempt: number, step: Wait): void {
  const { state, now } = deciding;
  const isKnown = state.plan.earlyWaits?.includes(index) === true && nodeAt(state, index)!.isSubscribed;
  const problem = isKnown || step.events.length === 0 ? null : subscribe(deciding, index);
  const until = step.timeoutMs === null ? null : now + step.timeoutMs;
  emit(deciding, { type: 'NodeWaiting', node: index, attempt, kind: 'wait', until });
  if (problem !== null) {
    return failAttempt(deciding, index, {
      error: { code: 'TEMPLATE_ERROR', message: problem.message },
      retryable: false,
    });
  }
  const { early } = nodeAt(state, index)!;
  if (early !== null && step.callback)
    emit(deciding, { type: 'EventReceived', node: index, by: 'callback', data: early.payload });
  endIfEnough(deciding, index);
}

export function arrive(deciding: Deciding, index: number, arrival: Arrival): void {
  const node = nodeAt(deciding.state, index)!;
  if (node.arrivals.length >= MAX_ARRIVALS) return;
  emit(deciding, { type: 'EventReceived', node: index, ...arrival });
  if (node.status === 'Waiting') endIfEnough(deciding, index);
}

function endIfEnough(deciding: Deciding, index: number): void {
  const { state } = deciding;
  const step = planNodeOf(state, index).step as Wait;
  const { arrivals } = nodeAt(state, index)!;
  if (arrivals.length < step.count) return;
  // More may have arrived before the wait; it takes no more than it asks for.
  const taken = arrivals.slice(0, step.count);
  if (step.until === null) return succeedAttempt(deciding, index, { outputs: gathered(taken, step) });
  const events = arrivals.map((arrival): JsonObject => ({ ...arrival }));
  const { value, warning } = judge(deciding, step.until, { ...scopeAt(state, index), events });
  if (warning !== undefined) {
    const message = `\`until\` (${step.until.source}) could not be judged: ${warning}`;
    return failAttempt(deciding, index, { error: { code: 'CONDITION_ERROR', message }, retryable: false });
  }
  if (value) return succeedAttempt(deciding, index, { outputs: gathered(arrivals, step) });
  if (arrivals.length < MAX_ARRIVALS) return;
  const error = { code: 'TOO_MANY_EVENTS', message: `\`until\` did not hold after ${MAX_ARRIVALS} events` };
  failAttempt(deciding, index, { error, retryable: false });
}

function gathered(arrivals: readonly Arrival[], { count, until }: Wait): Json {
  const last = arrivals.at(-1)!;
  if (count === 1 && until === null) return { by: arrivals[0]!.by, data: arrivals[0]!.data };
  return { by: last.by, data: last.data, events: arrivals.map((arrival): JsonObject => ({ ...arrival })) };
}

export function endWait(deciding: Deciding, index: number): void {
  const { state } = deciding;
  const step = planNodeOf(state, index).step as Wait;
  const { arrivals } = nodeAt(state, index)!;
  if (step.onTimeout === 'continue') {
    const events =
      step.count === 1 && step.until === null ? {} : { events: arrivals.map((one): JsonObject => ({ ...one })) };
    return succeedAttempt(deciding, index, { outputs: { by: 'timeout', data: null, ...events } });
  }
  const error = { code: 'WAIT_TIMEOUT', message: `Nothing that was waited for came within ${step.timeoutMs} ms` };
  failAttempt(deciding, index, { error, retryable: false, timedOut: true });
}
