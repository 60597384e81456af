// One firing of one trigger: check the trigger, judge its condition, start the execution. The start uses the firing's own request
// id, so a repetition finds the same execution (I9, S7). A refusal is an outcome with a reason. A passing failure (the database
// is away) is thrown, and tried again.

import { ERROR_CODES } from '../core/error/codes.ts';
import { cleanMessage } from '../core/error/message.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { StartHold } from '../store/port.ts';
import type { NewFiring, TriggerRecord } from '../store/trigger-port.ts';
import type { Judge } from './activation.ts';

export interface TriggerStart {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly trigger: Json;
  readonly requestId: string;
  readonly principal?: Json;
  readonly correlationId?: string;
  readonly traceparent?: string;
  readonly hold?: StartHold | undefined;
}

export type StartExecution = (request: TriggerStart) => Promise<{ executionId: string; isNew: boolean }>;

/** The principal, correlation id and trace of the start, and its rate limit. */
export interface FiringContext {
  readonly principal?: Json | undefined;
  readonly correlationId?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Throws when the workflow's rate limit is reached, or returns how long to hold this start. */
  readonly admit?: ((start: TriggerStart) => Promise<StartHold | undefined>) | undefined;
}

export interface FiringRequest extends FiringContext {
  readonly requestId: string;
  readonly body: Json;
  /** Headers of a request, visible to pipelines. */
  readonly headers?: JsonObject;
  readonly slot?: number;
  /** The payload was accepted and no caller waits, so an unusable one becomes a dead letter. */
  readonly keepRefused?: boolean;
  /** A person fires the trigger to try it out. */
  readonly ignoreDisabled?: boolean;
}

export type Fired =
  | { readonly outcome: 'started'; readonly executionId: string; readonly isNew: boolean }
  | {
      readonly outcome: 'condition_false' | 'skipped' | 'failed';
      readonly reason: string;
      /** For the caller, who may react by asking again. */
      readonly error?: PawlError;
    };

export interface TriggerObserver {
  fired(trigger: TriggerRecord, fired: Fired): void;
  warn(event: string, details: Record<string, unknown>): void;
}

/** Not an error of the request: somebody wanted the workflow in this state. */
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

/** A pipeline sees a request, whatever started it; other formats see the payload. */
function payloadFor(format: string, { body, headers = {} }: FiringRequest): Json {
  return format === 'pipeline' ? { body, headers } : body;
}

function startRequest(trigger: TriggerRecord, request: FiringRequest, payload: Json): TriggerStart {
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
