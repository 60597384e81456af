// Inbox messages as inputs of the decider. The key of a message is what makes it unique within (execution, kind): the
// node of a callback, the id of a signal, the id of a child (I10).

import type { EndStatus, ExecutionError, SignalType } from '../../core/decider/fact.ts';
import type { Input } from '../../core/decider/input.ts';
import { signalKey } from '../../core/decider/signal-key.ts';
import { callbackOf } from '../../core/decider/state.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { InboxMessage, JsonText } from '../../store/port.ts';

export type Mail =
  | { readonly kind: 'webhook'; readonly nodeId: string; readonly payload: Json; readonly truncated?: true }
  | { readonly kind: 'signal'; readonly signalId: string; readonly signal: SignalType; readonly payload: JsonObject }
  | { readonly kind: 'cancel'; readonly reason: string }
  | {
      readonly kind: 'child';
      readonly childId: string;
      readonly nodeId: string;
      readonly status: EndStatus;
      readonly outputs?: Json;
      readonly error?: ExecutionError;
    };

export function mailKey(mail: Mail): string {
  switch (mail.kind) {
    case 'webhook':
      return mail.nodeId;
    case 'signal':
      return signalKey(mail);
    case 'cancel':
      return 'cancel';
    case 'child':
      return mail.childId;
  }
}

export function mailBody(mail: Mail): JsonText {
  return JSON.stringify(mail);
}

export function inputOf(message: InboxMessage): Input {
  const mail = JSON.parse(message.body) as Mail;
  switch (mail.kind) {
    case 'webhook':
      return { type: 'webhookReceived', nodeId: mail.nodeId, ...callbackOf(mail) };
    case 'signal':
      return { type: 'signal', signalId: mail.signalId, signal: mail.signal, payload: mail.payload };
    case 'cancel':
      return { type: 'cancel', reason: mail.reason };
    case 'child': {
      const { kind: _kind, ...finished } = mail;
      return { type: 'childFinished', ...finished };
    }
  }
}
