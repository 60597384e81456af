// The naive reference: what the decider must do, written as directly as possible. It keeps no counters, heap or queue; after
// every event it looks at every node again until nothing more follows. Where the rules leave a choice open (the order of two
// ready nodes, the jitter of a delay), it follows the decider's own transition, the witness, after checking the choice.

import type { Transition } from './fact.ts';
import type { Input } from './input.ts';
import { isCutSleep, type RandomPlan } from './random-plan.testing.ts';
import {
  giveUp,
  isAdmitted,
  type Reference,
  resolveEdges,
  saysOk,
  unhandledFailures,
  whySkip,
} from './reference-routing.testing.ts';
import { isFinal, isTerminal, type NodeStatus } from './state.ts';

interface Moment {
  readonly now: number;
  readonly abortGraceMs: number;
  readonly witness: Transition;
}

export function applyInput(reference: Reference, input: Input, moment: Moment): void {
  if (input.type === 'signal') applySignal(reference, input, moment);
  else if (!isTerminal(reference.status)) applyEvent(reference, input, moment);
  settle(reference, moment);
}

function applyEvent(reference: Reference, input: Exclude<Input, { type: 'signal' }>, moment: Moment): void {
  const { plan } = reference.random;
  switch (input.type) {
    case 'started':
      if (reference.status !== 'Pending') return;
      reference.status = 'Running';
      reference.deadline = plan.timeoutMs === null ? null : moment.now + plan.timeoutMs;
      return;
    case 'attemptSucceeded':
      if (isCurrent(reference, input.node, input.attempt)) finish(reference, input.node, 'Succeeded', saysOk(input));
      return;
    case 'attemptFailed':
      if (isCurrent(reference, input.node, input.attempt) || isRefusedChild(reference, input)) {
        failAttempt(reference, input, moment);
      }
      return;
    case 'timerDue':
      ring(reference, moment);
      return;
    case 'timeout':
      if (isOverdue(reference, moment)) stop(reference, 'TimedOut', moment);
      return;
    case 'webhookReceived':
      callBack(reference, input.nodeId);
      return;
    case 'childFinished':
      for (const node of waiting(reference, input.nodeId, 'child')) {
        if (input.childId !== reference.nodes[node]!.childId) return;
        finish(reference, node, childOutcome(reference, input.status));
      }
      return;
    case 'cancel':
      stop(reference, 'Cancelled', moment);
      return;
    case 'giveUp':
      stop(reference, 'Failed', moment);
      return;
  }
}

/** An early callback is kept until its node waits for it; a late one is too late. */
function callBack(reference: Reference, nodeId: string): void {
  for (const node of waiting(reference, nodeId, 'webhook')) finish(reference, node, 'Succeeded');
  const node = reference.nodes[reference.random.plan.nodes.findIndex((it) => it.id === nodeId)]!;
  if (node.status === 'Pending') node.early = true;
}

/** A child that was told to stop, and did, has not failed. */
function childOutcome(reference: Reference, status: string): 'Succeeded' | 'Failed' | 'Cancelled' {
  if (status === 'Succeeded') return 'Succeeded';
  return status === 'Cancelled' && reference.stopping !== null ? 'Cancelled' : 'Failed';
}

function isCurrent(reference: Reference, node: number, attempt: number): boolean {
  const state = reference.nodes[node]!;
  return state.status === 'Running' && state.attempts === attempt;
}

/** The driver may refuse to create a child: unknown workflow, nested too deep. */
function isRefusedChild(reference: Reference, { node, attempt }: { node: number; attempt: number }): boolean {
  const { status, attempts } = reference.nodes[node]!;
  return status === 'Waiting' && attempts === attempt && reference.random.kinds[node] === 'child';
}

function waiting(reference: Reference, nodeId: string, kind: 'webhook' | 'child'): number[] {
  return reference.random.plan.nodes.flatMap((node, index) =>
    node.id === nodeId && reference.random.kinds[index] === kind && reference.nodes[index]!.status === 'Waiting'
      ? [index]
      : [],
  );
}

type Failure = Omit<Extract<Input, { type: 'attemptFailed' }>, 'type' | 'attempt' | 'error'> & {
  error?: { code: string };
};

function failAttempt(reference: Reference, input: Failure, moment: Moment): void {
  const node = reference.nodes[input.node]!;
  node.code = input.error?.code ?? '';
  const { retry } = reference.random.plan.nodes[input.node]!.policy;
  if (reference.stopping !== null && input.aborted === true) {
    finish(reference, input.node, 'Cancelled');
    return;
  }
  const tries = node.attempts - node.base;
  if (reference.stopping === null && input.retryable && tries < Math.max(1, retry.maxAttempts)) {
    node.status = 'Retrying';
    node.until = witnessedRetry(input.node, retry, tries, input.retryAfterMs ?? 0, moment);
    return;
  }
  finish(reference, input.node, input.timedOut === true ? 'TimedOut' : 'Failed');
}

/** Delay = base × factor^(n−1), capped, with jitter × [0.5, 1]; an action may ask for longer. */
function witnessedRetry(
  node: number,
  retry: RandomPlan['plan']['nodes'][number]['policy']['retry'],
  tries: number,
  retryAfterMs: number,
  { now, witness }: Moment,
): number {
  const full = Math.min(retry.baseDelayMs * retry.backoffFactor ** (tries - 1), retry.maxDelayMs ?? Infinity);
  const least = Math.max(retry.jitter ? full / 2 : full, retryAfterMs);
  const most = Math.max(full, retryAfterMs);
  for (const fact of witness.facts) {
    if (fact.type !== 'RetryScheduled' || fact.node !== node) continue;
    const delay = fact.until - now;
    // Milliseconds are whole: rounding either way is fine.
    if (delay < Math.floor(least) || delay > Math.ceil(most)) {
      throw new Error(`node ${node}: retry ${tries} after ${delay} ms is outside [${least}, ${most}]`);
    }
    return fact.until;
  }
  throw new Error(`node ${node}: attempt ${tries} failed, may be retried, but no RetryScheduled was recorded`);
}

/** Handles everything that is due, then what follows from it. A stop may come before a due retry. */
function ring(reference: Reference, moment: Moment): void {
  if (reference.stopping !== null) return;
  if (isOverdue(reference, moment)) {
    stop(reference, 'TimedOut', moment);
    return;
  }
  const due = (status: NodeStatus) =>
    reference.nodes.flatMap((node, at) =>
      node.status === status && node.until !== null && node.until <= moment.now ? [at] : [],
    );
  for (const node of due('Sleeping')) wake(reference, node, moment);
  for (const node of due('Waiting')) finish(reference, node, 'TimedOut');
  const retries = reference.status === 'Running' ? due('Retrying') : [];
  for (const node of retries) if (isStarted(moment, node)) startAttempt(reference, node, moment);
  settle(reference, moment);
  if (reference.status !== 'Running' || reference.stopping !== null) return;
  for (const node of due('Retrying')) startAttempt(reference, node, moment);
}

/** A sleep that was longer than its attempt may take is a timed-out attempt. */
function wake(reference: Reference, node: number, moment: Moment): void {
  const hasTime = !isCutSleep(reference.random.plan.nodes[node]!);
  if (hasTime) finish(reference, node, 'Succeeded');
  else failAttempt(reference, { node, retryable: true, timedOut: true }, moment);
}

function isStarted({ witness }: Moment, node: number): boolean {
  return witness.facts.some(
    (fact) => (fact.type === 'NodeStarted' || fact.type === 'NodeSleeping') && fact.node === node,
  );
}

/** Evaluated at resume when the execution is paused. */
function isOverdue(reference: Reference, { now }: Moment): boolean {
  return reference.status === 'Running' && reference.deadline !== null && reference.deadline <= now;
}

function applySignal(reference: Reference, input: Extract<Input, { type: 'signal' }>, moment: Moment): void {
  if (reference.signals.has(input.signalId)) return;
  reference.signals.add(input.signalId);
  const mayPause = reference.stopping === null;
  if (input.signal === 'PAUSE' && reference.status === 'Running' && mayPause) reference.status = 'Paused';
  if (input.signal === 'RESUME' && reference.status === 'Paused' && mayPause) {
    reference.status = 'Running';
    if (isOverdue(reference, moment)) stop(reference, 'TimedOut', moment);
    settle(reference, moment);
    ring(reference, moment);
  }
  if (input.signal === 'RETRY_STEP') retryStep(reference, input.payload, moment);
  if (input.signal === 'RERUN_FROM') rerunFrom(reference, input.payload, moment);
  if (input.signal === 'COMPLETE_STEP') completeStep(reference, input.payload, moment);
}

function mayRetryStep(reference: Reference, index: number, force: boolean): boolean {
  const node = reference.nodes[index];
  if (node === undefined || reference.stopping !== null) return false;
  if (node.status !== 'Failed' && node.status !== 'TimedOut') return false;
  const { maxAttempts } = reference.random.plan.nodes[index]!.policy.retry;
  return force || node.attempts - node.base < Math.max(1, maxAttempts);
}

/**
 * The node runs again, and so do the nodes that its failure stopped. Skips are judged anew, which repeats those that still
 * hold.
 */
function retryStep(reference: Reference, payload: { stepId?: unknown; force?: unknown }, moment: Moment): void {
  const { plan } = reference.random;
  const index = plan.nodes.findIndex((node) => node.id === payload.stepId);
  if (!mayRetryStep(reference, index, payload.force === true)) return;
  reopen(reference, moment);
  reference.nodes.forEach((node, at) => {
    if (at !== index && node.status !== 'Skipped' && (node.status !== 'Cancelled' || node.lost)) return;
    reset(reference, at);
    // Without force, earlier attempts still count.
    if (at === index ? payload.force === true : !keepsAttempts(moment, at)) node.base = node.attempts;
  });
}

function reopen(reference: Reference, moment: Moment): void {
  if (!isTerminal(reference.status)) return;
  const { timeoutMs } = reference.random.plan;
  reference.status = 'Running';
  reference.generation++;
  reference.deadline = timeoutMs === null ? null : moment.now + timeoutMs;
  for (const node of reference.nodes) node.tolerated = node.status === 'Failed' || node.status === 'TimedOut';
}

function reset(reference: Reference, at: number): void {
  const node = reference.nodes[at]!;
  node.status = 'Pending';
  node.skip = null;
  node.tolerated = false;
  node.endedWhileStopping = false;
  for (const edge of reference.random.plan.nodes[at]!.outgoing) reference.edges[edge] = null;
}

/** For an ended run: the step, every step that can be reached from it, and every step that did not run. */
function rerunFrom(reference: Reference, payload: { stepId?: unknown }, moment: Moment): void {
  const { plan } = reference.random;
  const index = plan.nodes.findIndex((node) => node.id === payload.stepId);
  if (index < 0 || !isTerminal(reference.status) || reference.nodes[index]!.status === 'Skipped') return;
  reopen(reference, moment);
  reference.nodes.forEach((node, at) => {
    const isSwept = node.status === 'Skipped' || node.status === 'Cancelled';
    if (!isSwept && !isReachable(reference, index, at)) return;
    reset(reference, at);
    node.base = node.attempts;
  });
}

function isReachable(reference: Reference, from: number, to: number): boolean {
  const { edges } = reference.random.plan;
  return from === to || edges.some((edge) => edge.from === from && isReachable(reference, edge.to, to));
}

/** The step counts as succeeded because a person says so. Nodes that its failure stopped are judged anew. */
function completeStep(reference: Reference, payload: { stepId?: unknown; outputs?: unknown }, moment: Moment): void {
  const index = reference.random.plan.nodes.findIndex((node) => node.id === payload.stepId);
  const node = reference.nodes[index];
  if (node === undefined || reference.stopping !== null) return;
  const isOpen = node.status === 'Sleeping' || (node.status === 'Waiting' && reference.random.kinds[index] !== 'child');
  if (!isOpen && !['Retrying', 'Failed', 'TimedOut', 'Cancelled'].includes(node.status)) return;
  if (!isOpen && node.status !== 'Retrying') {
    reopen(reference, moment);
    reference.nodes.forEach((other, at) => {
      if (at !== index && other.status !== 'Skipped' && other.status !== 'Cancelled') return;
      reset(reference, at);
      other.base = other.attempts;
    });
  }
  if (!isOpen) node.attempts++;
  finish(reference, index, 'Succeeded', saysOk({ outputs: payload.outputs }));
}

/** Whether the attempts of a node that was only swept along still count is left open. */
function keepsAttempts({ witness }: Moment, node: number): boolean {
  return witness.facts.some((fact) => fact.type === 'NodesReset' && fact.keepAttempts && fact.nodes.includes(node));
}

/** Starts, skips, stops and ends nodes until nothing more follows. */
function settle(reference: Reference, moment: Moment): void {
  while (!isTerminal(reference.status) && reference.status !== 'Pending') {
    if (reference.stopping !== null) {
      if (!hasWorkToAbort(reference) || moment.now >= reference.stopping.graceUntil) end(reference);
      return;
    }
    const paused = reference.status === 'Paused';
    const { onUnhandledFailure } = reference.random.plan;
    const fresh = unhandledFailures(reference).some((it) => !it.tolerated);
    if (fresh && !paused && onUnhandledFailure === 'failFast') {
      stop(reference, 'Failed', moment);
      continue;
    }
    const draining = fresh && onUnhandledFailure === 'drain';
    if (skipNext(reference) || (!paused && !draining && startNext(reference, moment))) continue;
    if (!paused && (draining ? !hasAnythingInFlight(reference) : reference.nodes.every((it) => isFinal(it.status)))) {
      end(reference);
    }
    return;
  }
}

function skipNext(reference: Reference): boolean {
  return reference.nodes.some((node, index) => {
    const skip = node.status === 'Pending' ? whySkip(reference, index) : null;
    if (skip === null) return false;
    node.skip = skip;
    finish(reference, index, 'Skipped');
    return true;
  });
}

function startNext(reference: Reference, moment: Moment): boolean {
  const ready = reference.nodes.flatMap((_, index) => (isAdmitted(reference, index) ? [index] : []));
  const started = moment.witness.facts.flatMap((fact) => ('attempt' in fact ? [fact.node] : []));
  const next = started.find((node) => ready.includes(node)) ?? ready[0];
  if (next === undefined) return false;
  startAttempt(reference, next, moment);
  return true;
}

function startAttempt(reference: Reference, index: number, { now, witness }: Moment): void {
  const node = reference.nodes[index]!;
  const { step, policy, join } = reference.random.plan.nodes[index]!;
  for (const other of typeof join === 'object' && node.status === 'Pending' ? join.rest : [])
    giveUp(reference, other, finish);
  node.attempts++;
  node.until = null;
  if (reference.random.kinds[index] === 'badTemplate') finish(reference, index, 'Failed');
  else if (step.kind === 'subworkflow' && step.waitForCompletion) {
    node.status = 'Waiting';
    const started = witness.facts.find((fact) => fact.type === 'NodeStarted' && fact.node === index);
    node.childId = (started as { childId?: string } | undefined)?.childId ?? null;
  } else if (step.kind === 'action' || step.kind === 'subworkflow') {
    // A child that is not waited for: the node runs until the driver reports that the child is durable.
    node.status = 'Running';
  } else if (step.kind === 'webhook' && node.early) {
    node.early = false;
    finish(reference, index, 'Succeeded');
  } else {
    node.status = step.kind === 'sleep' ? 'Sleeping' : 'Waiting';
    const sleepMs = (durationMs: unknown) => Math.min(Number(durationMs), policy.timeoutMs ?? Infinity);
    const wait = step.kind === 'sleep' ? sleepMs(step.durationMs) : step.kind === 'webhook' ? step.timeoutMs : null;
    node.until = wait === null ? null : now + wait;
  }
}

function finish(reference: Reference, index: number, status: NodeStatus, saidOk = false): void {
  const node = reference.nodes[index]!;
  node.status = status;
  node.until = null;
  node.saidOk = saidOk;
  node.endedWhileStopping = reference.stopping !== null;
  resolveEdges(reference, index);
}

/** Whether a child that was told to stop is waited for is left open. */
function isCancelled({ witness }: Moment, node: number): boolean {
  return witness.facts.some((fact) => fact.type === 'NodeCancelled' && fact.node === node);
}

/** Running attempts are told to stop and waited for; timers and open webhooks have nothing to wait for. */
function stop(reference: Reference, outcome: 'Failed' | 'Cancelled' | 'TimedOut', moment: Moment): void {
  if (reference.stopping !== null) return;
  reference.stopping = { outcome, graceUntil: moment.now + moment.abortGraceMs };
  reference.nodes.forEach((node, index) => {
    const isChild =
      node.status === 'Waiting' && reference.random.kinds[index] === 'child' && !isCancelled(moment, index);
    if (isFinal(node.status) || node.status === 'Pending' || node.status === 'Running' || isChild) return;
    finish(reference, index, 'Cancelled');
  });
  if (!hasWorkToAbort(reference)) end(reference);
}

function hasWorkToAbort(reference: Reference): boolean {
  return reference.nodes.some(({ status }) => status === 'Running' || status === 'Waiting');
}

function hasAnythingInFlight(reference: Reference): boolean {
  return reference.nodes.some(({ status }) => status !== 'Pending' && !isFinal(status));
}

function end(reference: Reference): void {
  const failed = unhandledFailures(reference).length > 0;
  reference.nodes.forEach((node, index) => {
    if (isFinal(node.status)) return;
    if (node.status === 'Pending') node.skip = 'stopped';
    finish(reference, index, node.status === 'Pending' ? 'Skipped' : 'Cancelled');
    node.endedWhileStopping = true;
  });
  reference.status = reference.stopping?.outcome ?? (failed ? 'Failed' : 'Succeeded');
  reference.stopping = null;
}
