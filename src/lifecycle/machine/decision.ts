// What a trigger is, and what deciding it gives: facts to be written, messages to be sent, notices to be raised. Data only;
// the rules are in transition.ts.

import type { Json } from '../../core/json/json.ts';

/** One business object in its machine, as far as deciding needs to know. */
export interface Instance {
  readonly instanceId: string;
  readonly externalRef: string;
  readonly state: string;
  /** Moves so far; 0: it does not exist yet and stands in the initial state. */
  readonly revision: number;
  readonly stateSince: number;
  /** How often the timeout of this stay in the state has fired. */
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

/** Who or what wanted it. */
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

/** The one thing that can become true. */
export interface Transitioned {
  readonly type: 'Transitioned';
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly revision: number;
  readonly stateSince: number;
  readonly timeoutsFired: number;
  /** When the timeout of the new state is due; null: it has none, or has fired as often as it may. */
  readonly dueAt: number | null;
}

/** A message to be sent once the fact is durable. Consumers of a transition are found by their subscriptions. */
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

/** No fact: nothing changes, and the notices say why. */
export interface Decision {
  readonly facts: readonly [] | readonly [Transitioned];
  readonly emissions: readonly Emission[];
  readonly notices: readonly Notice[];
}
