// What may happen to an execution, from the decider's point of view. Everything that a decision depends on arrives here
// or in DecideContext as data: the decider asks no clock, no random source and no store.

import type { Limits } from '../expression/evaluation.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { TemplateStyle } from '../template/render.ts';
import type { EndStatus, ExecutionError, NodeError } from './fact.ts';
import type { SignalType } from './signal-type.ts';

export type Input =
  | { readonly type: 'started' }
  | {
      readonly type: 'attemptSucceeded';
      readonly node: number;
      readonly attempt: number;
      readonly outputs: Json;
      /** Length of the outputs' JSON text: what they cost the context. */
      readonly bytes: number;
    }
  | {
      readonly type: 'attemptFailed';
      readonly node: number;
      readonly attempt: number;
      readonly error: NodeError;
      readonly retryable: boolean;
      /** Asked for by the action (a Retry-After header): used instead of the policy's delay when it is longer. */
      readonly retryAfterMs?: number;
      readonly timedOut?: boolean;
      /** The attempt ended because it was told to (cancel, fail fast, timeout of the execution). */
      readonly aborted?: boolean;
      readonly outputs?: Json;
    }
  /** Some timer of this execution is due at `now`: whichever those are, they are all handled. */
  | { readonly type: 'timerDue' }
  | {
      readonly type: 'eventReceived';
      readonly nodeId: string;
      readonly eventId: string;
      readonly eventType: string;
      readonly data: Json;
    }
  | { readonly type: 'webhookReceived'; readonly nodeId: string; readonly payload: Json; readonly truncated?: true }
  | {
      readonly type: 'childFinished';
      readonly nodeId: string;
      readonly childId: string;
      readonly status: EndStatus;
      readonly outputs?: Json;
      readonly error?: ExecutionError;
    }
  | { readonly type: 'signal'; readonly signalId: string; readonly signal: SignalType; readonly payload: JsonObject }
  /** `terminate`: nothing is undone, and what is being undone stops. */
  | { readonly type: 'cancel'; readonly reason: string; readonly terminate?: true }
  /** The engine gives up on the whole execution (the workflow was archived, the execution is poison). */
  | { readonly type: 'giveUp'; readonly error: ExecutionError }
  /** The decision before this one had worked long enough, and left something to route (S4). */
  | { readonly type: 'goOn' }
  /** An execution that the engine had given up on is taken up again, after a repair. */
  | { readonly type: 'reopened' }
  /** Somebody believes that the deadline has passed; whether it has is judged by `now`, as with every timer. */
  | { readonly type: 'timeout' };

export interface DecideContext {
  readonly now: number;
  /** Seeds the jitter of retry delays. The same seed gives the same facts (I16). */
  readonly seed: number;
  readonly abortGraceMs: number;
  /** How much one evaluation may take; absent: the usual. */
  readonly limits?: Limits | undefined;
  /** How much all evaluations of one decision may take before the rest is left for the next; 1 is a whole one. */
  readonly effortPerDecision?: number | undefined;
  /** How parameters are rendered; absent: strictly. */
  readonly templateStyle?: TemplateStyle | undefined;
  /** Wraps each evaluation and rendering to measure it; the results are the same without it. */
  readonly measure?: Measure | undefined;
}

/** Does the work and returns what it returned. */
export type Measure = <Result>(what: 'condition' | 'template', work: () => Result) => Result;
