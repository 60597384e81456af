// Plays a random script against the decider, as a driver would: picks the next event among what is in flight (an attempt or a
// child ends, a webhook is called, a timer rings), mixes in people's actions and events that must change nothing, and keeps the
// naive reference beside it. Everything follows from the script's seed, so a case is repeatable.

import type { Json, JsonObject } from '../json/json.ts';
import { randomSequence } from '../retry/random-sequence.testing.ts';
import { type Decision, decide } from './decide.ts';
import type { DecideContext, Input } from './input.ts';
import { nextDue } from './next-due.ts';
import { START } from './plan-builder.testing.ts';
import type { Control, Outcome, RandomPlan, Script } from './random-plan.testing.ts';
import { applyInput } from './reference.testing.ts';
import { createReference, type Reference } from './reference-routing.testing.ts';
import type { SignalType } from './signal-type.ts';
import { initialState, isFinal, isTerminal, type State } from './state.ts';

export interface Step {
  readonly input: Input;
  readonly context: DecideContext;
  readonly decision: Decision;
  /** Only the record of a signal may follow from it. */
  readonly noise: boolean;
}

export interface Run {
  readonly random: RandomPlan;
  readonly state: State;
  readonly reference: Reference;
  readonly steps: Step[];
  now: number;
  readonly pick: (below: number) => number;
  readonly controls: Control[];
  readonly noise: number;
  /** Every decision may evaluate one thing only, and is continued until nothing is left. */
  readonly inSlices: boolean;
  retryAll: boolean;
  readonly observe: (run: Run, step: Step) => void;
}

const GRACE_MS = 5_000;
const MAX_STEPS = 20_000;

export function play(random: RandomPlan, script: Script, observe: Run['observe'] = () => {}): Run {
  const run: Run = {
    random,
    state: initialState(random.plan, START),
    reference: createReference(random),
    steps: [],
    now: 1_000_000,
    pick: randomSource(script.seed),
    controls: [...script.controls].sort((one, other) => one.step - other.step),
    noise: script.noise,
    inSlices: script.inSlices === true,
    retryAll: script.retryAll === true,
    observe,
  };
  send(run, { type: 'started' });
  for (let step = 0; step < MAX_STEPS; step++) {
    while (run.controls.length > 0 && run.controls[0]!.step <= step) act(run, run.controls.shift()!);
    if (isTerminal(run.state.status)) {
      for (let count = 0; count < 3; count++) makeNoise(run);
      if (!reopens(run)) return run;
      continue;
    }
    if (run.pick(100) < run.noise) makeNoise(run);
    advance(run);
  }
  throw new Error(`not at an end after ${MAX_STEPS} events`);
}

/** mulberry32: small, seeded, good enough to shuffle. */
function randomSource(seed: number): (below: number) => number {
  const next = randomSequence(seed);
  return (below) => next() % below;
}

function send(run: Run, input: Input, noise = false): void {
  const context = { now: run.now, seed: run.pick(0x7fffffff), abortGraceMs: GRACE_MS };
  const decision = run.inSlices ? decideInSlices(run.state, input, context) : decide(run.state, input, context);
  applyInput(run.reference, input, { now: run.now, abortGraceMs: GRACE_MS, witness: decision.transition });
  const step = { input, context, decision, noise };
  run.steps.push(step);
  const due = nextDue(run.state);
  if (due === null || due > run.now) run.observe(run, step);
  else if (input.type === 'timerDue') throw new Error(`the bell of ${due} was rung at ${run.now} and still rings`);
  else send(run, { type: 'timerDue' });
}

/** Continues an interrupted decision as an engine would, and joins the results. */
function decideInSlices(state: State, input: Input, context: DecideContext): Decision {
  const small = { ...context, effortPerDecision: 0 };
  const parts = [decide(state, input, small)];
  for (let last = parts[0]!; ; parts.push(last)) {
    const rings =
      input.type === 'timerDue' && last.transition.facts.length > 0 && (nextDue(state) ?? Infinity) <= context.now;
    if (!last.isCutShort && !rings) break;
    last = decide(state, { type: last.isCutShort ? 'goOn' : 'timerDue' }, small);
  }
  const [{ transition }] = parts as [Decision];
  const facts = parts.flatMap((part) => part.transition.facts);
  const inputs = Object.assign({}, ...parts.map((part) => part.transition.inputs ?? {})) as JsonObject;
  const commands = parts.flatMap((part) => part.commands);
  return { ...parts[0]!, transition: { ...transition, facts, inputs }, commands };
}

/** Something in flight comes to its end. Time passes, but never past a pending timer. */
function advance(run: Run): void {
  const due = nextDue(run.state);
  const later = run.now + run.pick(40);
  if (due !== null && due <= later) {
    ring(run, due);
    return;
  }
  run.now = later;
  const candidates = inFlight(run);
  const paused = run.state.status === 'Paused' && run.reference.stopping === null;
  if (paused && (run.controls.length === 0 || candidates.length === 0)) candidates.push(signal(run, 'RESUME', {}));
  const choice = run.pick(candidates.length + (due === null ? 0 : 1));
  const chosen = candidates[choice];
  if (chosen !== undefined) send(run, chosen);
  else if (due !== null) ring(run, due);
  else throw new Error(`stuck: ${run.state.status}, nothing in flight and no timer`);
}

/** On time or a little late, but never past the deadline of the execution as well. */
function ring(run: Run, due: number): void {
  if (due - 1 > run.now && run.pick(100) < run.noise) {
    run.now = due - 1;
    send(run, { type: 'timerDue' }, true);
  }
  const lateBy = run.pick(3) === 0 ? run.pick(200) : 0;
  const { deadline } = run.state;
  const late = deadline !== null && deadline > due ? Math.min(due + lateBy, deadline - 1) : due + lateBy;
  run.now = Math.max(run.now, deadline === due ? due : late);
  send(run, { type: 'timerDue' });
}

function inFlight(run: Run): Input[] {
  const { plan, kinds } = run.random;
  // A stopping run no longer waits for anything: a call that comes then may be kept or not.
  const isEarly = run.pick(8) === 0 && run.reference.stopping === null;
  return run.reference.nodes.flatMap((node, index): Input[] => {
    const nodeId = plan.nodes[index]!.id;
    if (node.status === 'Running') return [attemptResult(run, index, node.attempts)];
    const isCall = kinds[index] === 'webhook' && (node.status === 'Waiting' || (node.status === 'Pending' && isEarly));
    if (!isCall && node.status !== 'Waiting') return [];
    if (kinds[index] === 'webhook') return [{ type: 'webhookReceived', nodeId, payload: { ok: true } }];
    return [childResult(run, index)];
  });
}

function outcomeOf(run: Run, node: number, attempt: number): Outcome {
  return run.random.outcomes[node]![attempt - 1] ?? 'ok';
}

function attemptResult(run: Run, node: number, attempt: number): Input {
  const outcome = outcomeOf(run, node, attempt);
  if (run.reference.stopping !== null && (attempt + node) % 2 === 0) {
    const error = { code: 'ABORTED', message: 'told to stop' };
    return { type: 'attemptFailed', node, attempt, error, retryable: false, aborted: true };
  }
  if (outcome === 'ok' || outcome === 'notOk') {
    const outputs = outputsOf(run, outcome === 'ok');
    return { type: 'attemptSucceeded', node, attempt, outputs, bytes: JSON.stringify(outputs).length };
  }
  return {
    type: 'attemptFailed',
    node,
    attempt,
    error: { code: outcome.toUpperCase(), message: `attempt ${attempt}` },
    retryable: outcome !== 'terminal',
    ...(outcome === 'timeout' ? { timedOut: true } : {}),
    ...(attempt % 3 === 2 ? { retryAfterMs: 700 } : {}),
  };
}

function outputsOf(run: Run, ok: boolean): Json {
  return run.random.plan.format === 'pipeline' ? { status_code: 200, headers: {}, body: { ok } } : { ok };
}

function childResult(run: Run, node: number): Input {
  const outcome = outcomeOf(run, node, run.reference.nodes[node]!.attempts);
  const nodeId = run.random.plan.nodes[node]!.id;
  const childId = run.state.nodes[node]!.childId ?? 'no child id was recorded';
  if (run.reference.stopping !== null && node % 2 === 0) {
    return { type: 'childFinished', nodeId, childId, status: 'Cancelled' };
  }
  if (outcome === 'terminal') return attemptResult(run, node, run.reference.nodes[node]!.attempts);
  if (outcome === 'ok' || outcome === 'notOk') {
    return { type: 'childFinished', nodeId, childId, status: 'Succeeded', outputs: { ok: true } };
  }
  const error = { code: 'CHILD', message: 'the child failed' };
  return { type: 'childFinished', nodeId, childId, status: outcome === 'timeout' ? 'TimedOut' : 'Failed', error };
}

function signal(run: Run, type: SignalType, payload: JsonObject): Input {
  return { type: 'signal', signalId: `signal-${run.steps.length}`, signal: type, payload };
}

function act(run: Run, control: Control): void {
  const input = controlInput(run, control);
  if (input !== null) send(run, input);
}

function controlInput(run: Run, { kind, target }: Control): Input | null {
  const { nodes } = run.random.plan;
  const stepId = nodes[target % nodes.length]!.id;
  switch (kind) {
    case 'pause':
      return signal(run, 'PAUSE', {});
    case 'resume':
      return signal(run, 'RESUME', {});
    case 'cancel':
      return { type: 'cancel', reason: 'asked to' };
    case 'giveUp':
      return { type: 'giveUp', error: { code: 'WORKFLOW_NOT_ACTIVE', message: 'archived' } };
    case 'updateParams':
      return signal(run, 'UPDATE_PARAMS', { stepId, newParams: { extra: target } });
    case 'override':
      return signal(run, 'INJECT_OVERRIDE', { stepId, override: { extra: target } });
    case 'escalate':
      return signal(run, 'ESCALATE_ALERT', { level: 'LOW' });
    case 'repeatSignal':
      return run.steps.findLast((step) => step.input.type === 'signal')?.input ?? null;
    case 'retryStep':
    case 'forceRetryStep':
      return retryStep(run, target, kind === 'forceRetryStep');
    case 'rerunFrom':
      return signal(run, 'RERUN_FROM', { stepId });
    case 'completeStep':
      return completeStep(run, target);
  }
}

/** As with a retry: its meaning for a run that drains because of another failure is left open. */
function completeStep(run: Run, target: number): Input | null {
  const { nodes, stopping, status } = run.reference;
  const isDraining = run.random.plan.onUnhandledFailure === 'drain' && !isTerminal(status);
  if (stopping !== null || (isDraining && nodes.some((node) => /Failed|TimedOut/.test(node.status)))) return null;
  const candidates = nodes.flatMap((node, at) => (node.status === 'Succeeded' ? [] : [at]));
  const index = candidates[target % Math.max(1, candidates.length)] ?? 0;
  const outputs = outputsOf(run, run.random.kinds[index] === 'action' && target % 2 === 0);
  return signal(run, 'COMPLETE_STEP', { stepId: run.random.plan.nodes[index]!.id, outputs });
}

/** The meaning of a retry for a run that is stopping, or that drains because of another failure, is left open. */
function retryStep(run: Run, target: number, force: boolean): Input | null {
  const { nodes, stopping, status } = run.reference;
  const failed = nodes.flatMap((node, at) => (node.status === 'Failed' || node.status === 'TimedOut' ? [at] : []));
  const draining = run.random.plan.onUnhandledFailure === 'drain' && !isTerminal(status) && failed.length > 1;
  if (stopping !== null || draining) return null;
  const node = failed[target % Math.max(1, failed.length)];
  const stepId = node === undefined ? 'nowhere' : run.random.plan.nodes[node]!.id;
  return signal(run, 'RETRY_STEP', force ? { stepId, force } : { stepId });
}

const REPAIRS: readonly Control['kind'][] = ['retryStep', 'forceRetryStep', 'rerunFrom', 'completeStep'];

/** After the end only repairs matter: the first remaining one is tried. */
function reopens(run: Run): boolean {
  if (run.retryAll && run.state.status === 'Failed') {
    run.retryAll = false;
    const failed = run.state.nodes.flatMap((node, at) => (/Failed|TimedOut/.test(node.status) ? [at] : []));
    for (const node of failed) {
      send(run, signal(run, 'RETRY_STEP', { stepId: run.random.plan.nodes[node]!.id, force: true }));
    }
    return true;
  }
  while (run.controls.length > 0) {
    const control = run.controls.shift()!;
    if (REPAIRS.includes(control.kind)) act(run, control);
    if (!isTerminal(run.state.status)) return true;
  }
  return false;
}

/** An event that must change nothing: a duplicate, a late result, a call for a node that does not wait, an early timer. */
function makeNoise(run: Run): void {
  const { plan } = run.random;
  const node = run.pick(plan.nodes.length);
  const nodeId = plan.nodes[node]!.id;
  const { status, attempts } = run.reference.nodes[node]!;
  // A retry may bring back a skipped node: until the end, a call for it may be kept.
  const isLate = isFinal(status) && (status !== 'Skipped' || isTerminal(run.state.status));
  const earlier = run.steps[run.pick(run.steps.length)]!;
  const stale = attemptResult(run, node, attempts - 1 + 2 * run.pick(2));
  const child: Input = { type: 'childFinished', nodeId, childId: 'stale', status: 'Succeeded' };
  const over: Input[] = [{ type: 'cancel', reason: 'too late' }, { type: 'timeout' }, signal(run, 'PAUSE', {})];
  const choices: Input[] = [
    { type: 'timerDue' },
    { type: 'started' },
    stale,
    child,
    ...(isLate ? [{ type: 'webhookReceived', nodeId, payload: {} } as const] : []),
    ...(isRepeatable(run, earlier.input) ? [earlier.input] : []),
    ...(isTerminal(run.state.status) ? over : []),
  ];
  send(run, choices[run.pick(choices.length)]!, true);
}

function isRepeatable(run: Run, input: Input): boolean {
  if (input.type === 'signal' || input.type === 'childFinished') return true;
  if (input.type !== 'attemptSucceeded' && input.type !== 'attemptFailed') return false;
  const { status, attempts } = run.reference.nodes[input.node]!;
  return isFinal(status) || attempts !== input.attempt;
}
