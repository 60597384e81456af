// Turns facts of executions into events (docs/execution-events.md). Each fact gives at most one event, in journal order, and the
// same facts always give the same keys, so a receiver recognises a repeated event by its idempotencyKey. Facts that only concern
// the engine (edges, skips, pauses, signals other than alerts) are not published. Ids come in from outside.

import { createHash } from 'node:crypto';
import { isoTime } from '../clock/clock.ts';
import type { Fact } from '../core/decider/fact.ts';
import { errorCategory } from '../core/error/category.ts';
import type { JsonObject } from '../core/json/json.ts';
import { actionTypeOf } from '../core/plan/action-type.ts';
import type { Plan } from '../core/plan/plan.ts';
import { shownVersion } from '../core/plan/shown-version.ts';
import { nodeIdAt, placeOf, planNodeAt } from '../core/plan/virtual-node.ts';
import { maskCallbacks } from '../protocol/callback-mask.ts';
import type { ExecutionEventType } from '../protocol/event.ts';
import type { OutboxRow } from '../store/delivery-port.ts';

export interface Envelope {
  readonly eventType: ExecutionEventType;
  readonly sequence: number;
  readonly idempotencyKey: string;
  /** The whole event. */
  readonly event: JsonObject;
}

interface Told {
  readonly eventType: ExecutionEventType;
  readonly node?: number;
  /** The attempt of the step or run; for an alert, the signal's id. */
  readonly attempt: number | string;
  readonly payload: JsonObject;
}

/** Without a plan (it can no longer be loaded) steps are named by number. */
export function envelopesOf(
  row: OutboxRow,
  plan: Plan | null,
  newId: () => string,
  /** Skips events without a subscriber: most events of an execution belong to its steps. */
  isWanted: (type: ExecutionEventType) => boolean = () => true,
): Envelope[] {
  // An error may contain a callback token, and a receiver of the event could complete a wait with it (docs/security.md).
  const facts = JSON.parse(maskCallbacks(row.facts)) as Fact[];
  return facts.flatMap((fact, place) => {
    const told = tell(fact, row, plan);
    if (told === null || !isWanted(told.eventType)) return [];
    return [envelopeOf(told, row, { sequence: row.seq + place, plan, eventId: newId() })];
  });
}

function envelopeOf(
  { eventType, node, attempt, payload }: Told,
  row: OutboxRow,
  { sequence, plan, eventId }: { sequence: number; plan: Plan | null; eventId: string },
): Envelope {
  const { runId, tenantId, projectId, environmentId, workflowId, correlationId, version } = row;
  const planVersion = plan?.namedVersion ?? shownVersion(version);
  const stepId = node === undefined ? undefined : stepName(plan, node);
  const attemptId = String(attempt);
  const idempotencyKey = keyOf({ runId, stepId, attemptId, eventType, planVersion });
  const event: JsonObject = {
    schemaVersion: 'v1',
    eventId,
    eventType,
    occurredAt: isoTime(row.at),
    tenantId,
    projectId,
    environmentId,
    runId,
    attemptId,
    ...(stepId === undefined ? {} : { stepId }),
    idempotencyKey,
    driver: row.driver ?? 'native',
    engineRunRef: refOf(row),
    sequence,
    workflowId,
    planVersion,
    correlationId,
    payload,
  };
  return { eventType, sequence, idempotencyKey, event };
}

/** An execution that waits to be handed over only knows its engine. */
function refOf({ driver, engineRunRef, executionId }: OutboxRow): JsonObject {
  if (driver === null) return { provider: 'native', executionId };
  return engineRunRef === null ? { provider: driver, executionId } : (JSON.parse(engineRunRef) as JsonObject);
}

/** Joins the parts by bars, with the type in lower case and absent parts empty. */
export function keyOf(parts: {
  readonly runId: string;
  readonly stepId: string | undefined;
  readonly attemptId: string;
  readonly eventType: string;
  readonly planVersion: number | string;
}): string {
  const { runId, stepId = '', attemptId, eventType, planVersion } = parts;
  const text = [runId, stepId, attemptId, eventType.toLowerCase(), planVersion].join('|');
  return createHash('sha256').update(text).digest('hex');
}

/** null: the fact is not published. */
function tell(fact: Fact, { reopens }: OutboxRow, plan: Plan | null): Told | null {
  const run = 1 + reopens;
  switch (fact.type) {
    case 'ExecutionStarted':
      return { eventType: 'RunStarted', attempt: 1, payload: started(false, fact.deadline) };
    case 'ExecutionReopened':
      return { eventType: 'RunStarted', attempt: 1 + fact.generation, payload: started(true, fact.deadline) };
    case 'ExecutionSucceeded':
      return { eventType: 'RunCompleted', attempt: run, payload: {} };
    case 'ExecutionFailed':
    case 'ExecutionTimedOut': {
      const payload = { error: toldError(fact.error), timedOut: fact.type === 'ExecutionTimedOut' };
      return { eventType: 'RunFailed', attempt: run, payload };
    }
    case 'ExecutionCancelled':
      return { eventType: 'RunCancelled', attempt: run, payload: { error: toldError(fact.error) } };
    case 'NodeStarted':
    case 'NodeSleeping':
    case 'NodeWaiting':
      return stepStarted(fact, plan);
    case 'NodeSucceeded': {
      const payload = { stepType: stepType(plan, fact.node), outputBytes: fact.bytes };
      return { eventType: 'StepCompleted', node: fact.node, attempt: fact.attempt, payload };
    }
    case 'NodeFailed':
    case 'NodeTimedOut':
    case 'NodeCancelled':
    case 'RetryScheduled':
      return stepFailed(fact, plan);
    case 'SignalApplied':
      return escalated(fact);
    case 'EventsAwaited':
    case 'EventReceived':
    case 'NodesExpanded':
    case 'ItemFinished':
    case 'NodeSkipped':
    case 'EdgesResolved':
    case 'WebhookBuffered':
    case 'ExecutionPaused':
    case 'ExecutionResumed':
    case 'ExecutionStopping':
    case 'ExecutionCompensating':
    case 'NodesReset':
    case 'Warning':
      return null;
  }
}

/** Two alerts of one run are two events: the signal's id separates them. Other signals show in their effects. */
function escalated({ signal, signalId, payload, refused }: Extract<Fact, { type: 'SignalApplied' }>): Told | null {
  if (signal !== 'ESCALATE_ALERT' || refused !== undefined) return null;
  return { eventType: 'AlertEscalated', attempt: signalId, payload: { ...payload, signalId } };
}

type StartFact = Extract<Fact, { type: 'NodeStarted' | 'NodeSleeping' | 'NodeWaiting' }>;

function stepStarted(fact: StartFact, plan: Plan | null): Told | null {
  // A step that waits for a child has already published its start.
  if (fact.type === 'NodeWaiting' && fact.kind !== 'webhook' && fact.kind !== 'wait') return null;
  const { node, attempt } = fact;
  // A loop that rests between two rounds has already published its start.
  if (fact.type === 'NodeSleeping' && isLoop(plan, node)) return null;
  return { eventType: 'StepStarted', node, attempt, payload: { stepType: stepType(plan, node), ...waiting(fact) } };
}

function waiting(fact: StartFact): JsonObject {
  switch (fact.type) {
    case 'NodeStarted':
      return fact.childId === undefined ? {} : { childRunId: fact.childId };
    case 'NodeSleeping':
      return { waitsFor: 'timer', until: isoTime(fact.until) };
    case 'NodeWaiting':
      return { waitsFor: 'webhook', ...(fact.until === null ? {} : { until: isoTime(fact.until) }) };
  }
}

type FailFact = Extract<Fact, { type: 'NodeFailed' | 'NodeTimedOut' | 'NodeCancelled' | 'RetryScheduled' }>;

function stepFailed(fact: FailFact, plan: Plan | null): Told | null {
  // The failure of its last attempt was already published.
  if (fact.type === 'NodeCancelled' && fact.betweenAttempts) return null;
  const { node, attempt, error } = fact;
  const payload = {
    stepType: stepType(plan, node),
    error: toldError(error),
    timedOut: fact.type === 'NodeTimedOut' || (fact.type === 'RetryScheduled' && fact.timedOut === true),
    cancelled: fact.type === 'NodeCancelled',
    ...(fact.type === 'RetryScheduled' ? { retryAt: isoTime(fact.until) } : {}),
  };
  return { eventType: 'StepFailed', node, attempt, payload };
}

function started(reopened: boolean, deadline: number | null): JsonObject {
  return { reopened, ...(deadline === null ? {} : { deadline: isoTime(deadline) }) };
}

function toldError({ code, message, nodeId }: { code: string; message: string; nodeId?: string }): JsonObject {
  return { category: errorCategory(code), code, message, ...(nodeId === undefined ? {} : { stepId: nodeId }) };
}
const stepName = (plan: Plan | null, node: number): string => (plan === null ? `#${node}` : nodeIdAt(plan, node));

const isLoop = (plan: Plan | null, node: number): boolean => plan?.loops?.includes(node) ?? false;

function stepType(plan: Plan | null, node: number): string {
  const step =
    plan === null || (node >= plan.nodes.length && placeOf(plan, node) === null)
      ? undefined
      : planNodeAt(plan, node).step;
  return step === undefined ? 'unknown' : actionTypeOf(step);
}
