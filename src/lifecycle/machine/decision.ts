// A trigger, and the decision on it: facts to write, messages to send, notices to raise. Data only; the rules are in
// transition.ts.

import type { Json } from '../../core/json/json.ts';

/** The part of an instance that deciding needs. */
export interface Instance {
  readonly instanceId: string;
  readonly externalRef: string;
  readonly state: string;
  /** Moves so far; 0: the instance does not exist yet and counts as in its initial state. */
  readonly revision: number;
  readonly stateSince: number;
  /** How often the timeout of the current stay has fired. */
  readonly timeoutsFired: number;
  /** When the timeout is due; null: no timeout is set. */
  readonly dueAt: number | null;
}

export interface Trigger {
  /** An event's name, id or code. */
  readonly event: string | number;
  readonly requestId: string;
  readonly actor?: string | undefined;
  readonly payload?: Json | undefined;
  readonly cause: Cause;
}

/** The origin of the trigger. */
export type Cause =
  | { readonly type: 'trigger' }
  | { readonly type: 'timeout'; readonly state: string; readonly count: number }
  | {
      readonly type: 'policy';
      readonly policy?: string;
      readonly hook?: string;
      readonly ackGuid: string;
      readonly outcome: 'succeeded' | 'failed';
    }
  | { readonly type: 'workflow'; readonly executionId: string; readonly nodeId: string };

/** The only fact there is. */
export interface Transitioned {
  readonly type: 'Transitioned';
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly revision: number;
  readonly stateSince: number;
  readonly timeoutsFired: number;
  /** When the timeout of the new state is due; null: there is none, or it has fired as often as allowed. */
  readonly dueAt: number | null;
}

/** A message to send once the fact is durable. The consumers of a transition are found by their subscriptions. */
export type Emission =
  | { readonly kind: 'transition'; readonly event: string; readonly code: number | null }
  | {
      readonly kind: 'hook';
      readonly policy: string;
      readonly hook: string;
      readonly consumers: readonly string[];
      readonly onSucceeded: string | null;
      readonly onFailed: string | null;
    }
  | { readonly kind: 'workflow'; readonly policy: string; readonly workflow: string };

export type NoticeKind =
  | 'DuplicateRequest'
  | 'NoOpAlreadyInState'
  | 'TransitionRejected'
  | 'DeliveryRetryRaised'
  | 'ProcessingReminderRaised'
  | 'DispatchFailure'
  | 'ConsumerFailure'
  | 'TimeoutTriggered';

export interface Notice {
  readonly kind: NoticeKind;
  readonly message: string;
  readonly details: { readonly [key: string]: Json };
}

/** Without a fact nothing changes, and the notices give the reason. */
export interface Decision {
  readonly facts: readonly [] | readonly [Transitioned];
  readonly emissions: readonly Emission[];
  readonly notices: readonly Notice[];
}
