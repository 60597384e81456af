// One firing of one trigger, from the event that caused it to what became of it: may it, does the condition hold, is it
// started. What is started is started under the firing's own request id, so a repetition finds the execution (I9, S7). What
// cannot be done is an outcome, recorded with its reason; what may pass (the database is away) is thrown, and tried again.

import { ERROR_CODES } from '../core/error/codes.ts';
import { cleanMessage } from '../core/error/message.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { StartHold } from '../store/port.ts';
import type { NewFiring, TriggerRecord } from '../store/trigger-port.ts';
import type { Judge } from './activation.ts';

interface StartRequest {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly trigger: Json;
  readonly requestId: string;
  readonly principal?: Json;
  readonly correlationId?: string;
  readonly traceparent?: string;
  readonly hold?: StartHold | undefined;
}

export type StartExecution = (request: StartRequest) => Promise<{ executionId: string; isNew: boolean }>;

/** For whom, under which correlation id and in which trace an execution is started; how often a workflow may be. */
export interface FiringContext {
  readonly principal?: Json | undefined;
  readonly correlationId?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Throws when the workflow may not be started so often, or says for how long to hold this start. */
  readonly admit?: ((start: StartRequest) => Promise<StartHold | undefined>) | undefined;
}

export interface FiringRequest extends FiringContext {
  readonly requestId: string;
  readonly body: Json;
  /** Of a request; a pipeline sees them. */
  readonly headers?: JsonObject;
  readonly slot?: number;
  /** The payload was accepted and no caller waits: an unusable one is kept as a dead letter. */
  readonly keepRefused?: boolean;
  /** A person fires it to try it out. */
  readonly ignoreDisabled?: boolean;
}

export type Fired =
  | { readonly outcome: 'started'; readonly executionId: string; readonly isNew: boolean }
  | {
      readonly outcome: 'condition_false' | 'skipped' | 'failed';
      readonly reason: string;
      /** What whoever asked must hear, and may react to by asking again. */
      readonly error?: PawlError;
    };

export interface TriggerObserver {
  fired(trigger: TriggerRecord, fired: Fired): void;
  warn(event: string, details: Record<string, unknown>): void;
}

/** Not the request's fault, and not a fault at all: the workflow is as somebody wanted it. */
const AS_WANTED = new Set(['WORKFLOW_NOT_ACTIVE', 'WORKFLOW_DISABLED', 'WORKFLOW_NOT_FOUND']);

export async function fireTrigger(
  { start, judge }: { readonly start: StartExecution; readonly judge: Judge },
  trigger: TriggerRecord,
  request: FiringRequest,
): Promise<Fired> {
  const { workflowId, workflowStatus, workflowFormat: format, activationCondition: condition } = trigger;
  if (!trigger.isEnabled && request.ignoreDisabled !== true) return skipped('the trigger is disabled');
  if (workflowStatus === 'Draft') return skipped(`workflow "${workflowId}" is a Draft: publish it`);
  const payload = payloadFor(format, request);
  const scope = { trigger: payload };
  const verdict = condition === null ? null : await judge.verdict('condition', condition, format, scope);
  if (verdict?.holds === false) return { outcome: 'condition_false', reason: verdict.reason };
  try {
    const wanted = startRequest(trigger, request, payload);
    const hold = await request.admit?.(wanted);
    return { outcome: 'started', ...(await start({ ...wanted, hold })) };
  } catch (error) {
    return refused(error);
  }
}

/** A pipeline sees a request, whatever started it; the other formats see what came with it. */
function payloadFor(format: string, { body, headers = {} }: FiringRequest): Json {
  return format === 'pipeline' ? { body, headers } : body;
}

function startRequest(trigger: TriggerRecord, request: FiringRequest, payload: Json): StartRequest {
  const { principal, correlationId, traceparent } = request;
  return {
    tenantId: trigger.tenantId,
    workflowId: trigger.workflowId,
    trigger: payload,
    requestId: request.requestId,
    ...(principal === undefined ? {} : { principal }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

const skipped = (reason: string): Fired => ({ outcome: 'skipped', reason });

function refused(error: unknown): Fired {
  if (!(error instanceof PawlError)) throw error;
  const { httpStatus } = ERROR_CODES[error.code];
  if (httpStatus >= 500) throw error;
  if (AS_WANTED.has(error.code)) return skipped(error.message);
  const isOverLimit = httpStatus === 429 || httpStatus === 403;
  return { outcome: isOverLimit ? 'skipped' : 'failed', reason: error.message, error };
}

export const isRepetition = (fired: Fired): boolean => fired.outcome === 'started' && !fired.isNew;

export function firingOf(trigger: TriggerRecord, request: FiringRequest, fired: Fired): NewFiring {
  const isStarted = fired.outcome === 'started';
  return {
    triggerId: trigger.triggerId,
    requestId: request.requestId,
    slot: request.slot ?? null,
    outcome: fired.outcome,
    executionId: isStarted ? fired.executionId : null,
    reason: isStarted ? null : cleanMessage(fired.reason),
    refused: request.keepRefused === true ? refusedPayload(trigger, request, fired) : null,
  };
}

function refusedPayload({ workflowId }: TriggerRecord, request: FiringRequest, fired: Fired): NewFiring['refused'] {
  if (fired.outcome !== 'failed' || fired.error === undefined) return null;
  const { requestId, body: triggerPayload } = request;
  return { code: fired.error.code, payload: JSON.stringify({ workflowId, requestId, triggerPayload }) };
}
