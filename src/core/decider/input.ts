// The inputs of the decider. Everything that a decision depends on arrives here or in DecideContext as data: the decider asks no
// clock, random source or store.

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
      /** The length of the outputs' JSON text, which counts against the context. */
      readonly bytes: number;
    }
  | {
      readonly type: 'attemptFailed';
      readonly node: number;
      readonly attempt: number;
      readonly error: NodeError;
      readonly retryable: boolean;
      /** From the action (a Retry-After header). Used instead of the policy's delay when it is longer. */
      readonly retryAfterMs?: number;
      readonly timedOut?: boolean;
      /** The attempt ended because it was aborted (cancel, fail fast, timeout of the execution). */
      readonly aborted?: boolean;
      readonly outputs?: Json;
    }
  /** Some timers of this execution are due at `now`. All of them are handled. */
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
  /** `terminate`: nothing is undone, and running compensations stop. */
  | { readonly type: 'cancel'; readonly reason: string; readonly terminate?: true }
  /** The engine gives up on the whole execution (the workflow was archived, the execution is poison). */
  | { readonly type: 'giveUp'; readonly error: ExecutionError }
  /** The previous decision reached its work limit and left something to route (S4). */
  | { readonly type: 'goOn' }
  /** An execution that the engine had given up is taken up again, after a repair. */
  | { readonly type: 'reopened' }
  /** The deadline may have passed. `now` decides, as with every timer. */
  | { readonly type: 'timeout' };

export interface DecideContext {
  readonly now: number;
  /** Seeds the jitter of retry delays. The same seed gives the same facts (I16). */
  readonly seed: number;
  readonly abortGraceMs: number;
  /** The limits of one evaluation; absent: the defaults. */
  readonly limits?: Limits | undefined;
  /** The effort of one decision, after which the rest is left for the next; 1 is one full evaluation. */
  readonly effortPerDecision?: number | undefined;
  /** How parameters are rendered; absent: strictly. */
  readonly templateStyle?: TemplateStyle | undefined;
  /** Wraps each evaluation and rendering to measure it. It does not change results. */
  readonly measure?: Measure | undefined;
}

/** Does the work and returns its result. */
export type Measure = <Result>(what: 'condition' | 'template', work: () => Result) => Result;
