// One attempt of a node: its request and its result. The engine asks, an action answers.

import type { Json } from '../core/json/json.ts';
import type { PluginRef, SecretRef, StepContract, StepHooks } from '../core/plan/plan.ts';
import type { JsonText } from '../store/port.ts';
import type { StopSignal } from './stop.ts';

export interface AttemptRequest {
  readonly executionId: string;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly nodeId: string;
  readonly actionType: string;
  /** The connection that the node names; absent: the default of the action's connector. */
  readonly connection?: string | undefined;
  readonly environmentId: string;
  /** Absent: `default`. */
  readonly projectId?: string | undefined;
  readonly attempt: number;
  /** An earlier run may have had its effect: this is a later attempt, or a former owner may have begun this one. */
  readonly mayHaveRun: boolean;
  readonly params: unknown;
  /** Added to the parameters in the attempt, and nowhere earlier. */
  readonly secretRefs?: readonly SecretRef[] | undefined;
  /** Of an execution plan, where the id of the run and the version of the plan are the planner's own. */
  readonly runId?: string | undefined;
  readonly planVersion?: string | undefined;
  /** Execution plans only: the contract for the outputs (step-result.ts). */
  readonly contract?: StepContract | undefined;
  readonly hooks?: StepHooks | undefined;
  /** Runs instead of an action. */
  readonly plugin?: PluginRef | undefined;
  readonly timeoutMs: number | null;
  readonly idempotencyKey: string;
  readonly principal: unknown;
  readonly correlationId: string;
  /** W3C trace context of what this attempt belongs to. */
  readonly traceparent: string | null;
  /** Aborted when the execution stops or the runner loses its lease. */
  readonly signal: StopSignal;
}

/** What telemetry is told of an attempt. */
export type RanAttempt = Omit<AttemptRequest, 'signal' | 'mayHaveRun'>;

export interface AttemptLink {
  readonly system: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly url?: string | undefined;
}

export interface AttemptLogLine {
  readonly at: number;
  readonly level: string;
  readonly message: string;
  readonly data: JsonText | null;
}

export type AttemptResult = {
  readonly logs?: readonly AttemptLogLine[];
  /** The wait for a free place before it ran; absent: less than a millisecond. */
  readonly waitedMs?: number;
} & (
  | {
      readonly ok: true;
      readonly outputsText: JsonText;
      /** The parsed outputs (I15), for callers that have them already. */
      readonly outputs?: Json;
      readonly resourceLinks?: readonly AttemptLink[];
    }
  | {
      readonly ok: false;
      readonly error: { readonly code: string; readonly message: string };
      readonly retryable: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly timedOut?: boolean | undefined;
      readonly aborted?: boolean | undefined;
      /** It was told to stop and did not, so it may still be running. */
      readonly abandoned?: boolean | undefined;
      readonly outputsText?: JsonText | undefined;
      readonly outputs?: Json;
      /** The stack of an unexpected error, only for the log. */
      readonly stack?: string | undefined;
    }
);

/** Runs one attempt to its end, without a promise if none is needed. Never rejects: every failure is a result. */
export type RunAttempt = (request: AttemptRequest) => AttemptResult | Promise<AttemptResult>;

/** One call of a plugin, for comparing its versions. */
export interface PluginCalled {
  readonly pluginId: string;
  /** The version that ran, which a quarantine may have chosen. */
  readonly version: string;
  readonly outcome: 'done' | 'failed' | 'broken' | 'stopped';
  readonly durationMs: number;
}
