// Inbox messages as inputs of the decider. The key of a message is unique within (execution, kind): the node of a callback, the
// id of a signal, the id of a child, the attempt of a result (I10).

import type { AttemptResult } from '../../action/attempt.ts';
import type { EndStatus, ExecutionError } from '../../core/decider/fact.ts';
import type { Input } from '../../core/decider/input.ts';
import { type SignalType, signalKey } from '../../core/decider/signal-type.ts';
import { callbackOf } from '../../core/decider/state.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { nodeIndexOf } from '../../core/plan/virtual-node.ts';
import type { InboxMessage, JsonText } from '../../store/port.ts';
import { attemptInput } from './attempt-input.ts';
import type { QueuedInput } from './resident.ts';

export type Mail =
  | { readonly kind: 'webhook'; readonly nodeId: string; readonly payload: Json; readonly truncated?: true }
  | {
      readonly kind: 'event';
      readonly nodeId: string;
      readonly eventId: string;
      readonly eventType: string;
      readonly data: Json;
    }
  | { readonly kind: 'signal'; readonly signalId: string; readonly signal: SignalType; readonly payload: JsonObject }
  | { readonly kind: 'cancel'; readonly reason: string; readonly terminate?: true }
  | {
      readonly kind: 'child';
      readonly childId: string;
      readonly nodeId: string;
      readonly status: EndStatus;
      readonly outputs?: Json;
      readonly error?: ExecutionError;
    }
  /** The outcome of an attempt from a process that may not write state. */
  | {
      readonly kind: 'attemptResult';
      readonly nodeId: string;
      readonly attempt: number;
      /** The epoch of the attempt's run; absent: any (I5). */
      readonly epoch?: number;
      readonly result: AttemptResult;
    };

export function mailKey(mail: Mail): string {
  switch (mail.kind) {
    case 'webhook':
      return mail.nodeId;
    case 'event':
      return `${mail.nodeId}:${mail.eventId}`;
    case 'signal':
      return signalKey(mail);
    case 'cancel':
      return mail.terminate ? 'terminate' : 'cancel';
    case 'child':
      return mail.childId;
    case 'attemptResult':
      return `${mail.nodeId}:${mail.attempt}:${mail.epoch ?? ''}`;
  }
}

export function mailBody(mail: Mail): JsonText {
  return JSON.stringify(mail);
}

/** As an input of the next decision, whose commit consumes it. */
export function queuedMail(message: InboxMessage, plan: Plan, epoch?: number): QueuedInput {
  const mailId = message.id;
  const mail = JSON.parse(message.body) as Mail;
  if (mail.kind !== 'attemptResult') return { input: inputOf(mail), mailId };
  const node = nodeIndexOf(plan, mail.nodeId);
  const isOfAnotherRun = mail.epoch !== undefined && epoch !== undefined && mail.epoch !== epoch;
  // Nothing to decide, but the message is used up.
  if (node < 0 || isOfAnotherRun) return { input: { type: 'timerDue' }, mailId };
  return { ...attemptInput(node, mail.attempt, mail.result), mailId };
}

function inputOf(mail: Exclude<Mail, { kind: 'attemptResult' }>): Input {
  switch (mail.kind) {
    case 'webhook':
      return { type: 'webhookReceived', nodeId: mail.nodeId, ...callbackOf(mail) };
    case 'event': {
      const { nodeId, eventId, eventType, data } = mail;
      return { type: 'eventReceived', nodeId, eventId, eventType, data };
    }
    case 'signal':
      return { type: 'signal', signalId: mail.signalId, signal: mail.signal, payload: mail.payload };
    case 'cancel':
      return { type: 'cancel', reason: mail.reason, ...(mail.terminate ? { terminate: true as const } : {}) };
    case 'child': {
      const { kind: _kind, ...finished } = mail;
      return { type: 'childFinished', ...finished };
    }
  }
}
