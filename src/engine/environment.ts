// What the engine needs from outside besides the store: time, a way to run an attempt, compiled plans, and someone to
// tell. All of it comes in here, so that the simulation runs this very code on a clock and actions of its own.

import type { StopSignal } from '../action/stop.ts';
import type { Measure } from '../core/decider/input.ts';
import type { State } from '../core/decider/state.ts';
import type { Limits } from '../core/expression/evaluate.ts';
import { DEFAULT_LIMITS } from '../core/expression/evaluation.ts';
import type { Json } from '../core/json/json.ts';
import type { Plan } from '../core/plan/plan.ts';
import { STRICT_STYLE, type TemplateStyle } from '../core/template/render.ts';
import type { JsonText, NewExecution } from '../store/port.ts';

export interface Timers {
  /** Monotonic milliseconds. */
  monotonicMs(): number;
  /** Calls back once; the returned function takes the call back. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back in the next turn of the loop. */
  soon(callback: () => void): void;
}

export interface AttemptRequest {
  readonly executionId: string;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly nodeId: string;
  readonly actionType: string;
  readonly attempt: number;
  readonly params: unknown;
  readonly timeoutMs: number | null;
  readonly idempotencyKey: string;
  readonly principal: unknown;
  readonly correlationId: string;
  /** W3C trace context of what this attempt belongs to. */
  readonly traceparent: string | null;
  /** Aborted when the execution stops or the runner loses its lease. */
  readonly signal: StopSignal;
}

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

export type AttemptResult = { readonly logs?: readonly AttemptLogLine[] } & (
  | {
      readonly ok: true;
      readonly outputsText: JsonText;
      /** What parsing the text gives (I15), for those who have it already. */
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
      /** It was told to stop and did not: it may still be running. */
      readonly abandoned?: boolean | undefined;
      readonly outputsText?: JsonText | undefined;
      readonly outputs?: Json;
      /** Where an error that nobody meant was thrown: for the log, and nothing else. */
      readonly stack?: string | undefined;
    }
);

/** Runs one attempt to its end, without a promise if it needs none. Never rejects: whatever goes wrong is a result. */
export type RunAttempt = (request: AttemptRequest) => AttemptResult | Promise<AttemptResult>;

export interface PlanSource {
  /** null: no such version; `problem`: it is there but cannot be compiled. */
  plan(params: VersionKey): Promise<LoadedPlan | null>;
  /** The same without a wait, if it is at hand; undefined: ask for it. */
  known(params: VersionKey): LoadedPlan | undefined;
}

export interface VersionKey {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
}

export type LoadedPlan = { readonly plan: Plan; readonly isArchived: boolean } | { readonly problem: string };

/** What an operator would like to know. Implementations log and count; the engine never depends on them. */
export interface EngineObserver {
  warn(event: string, details: Record<string, unknown>): void;
  count(metric: EngineMetric, by?: number): void;
  ended?(ended: EndedExecution): void;
  /** Told how long evaluations take. */
  readonly measure?: Measure | undefined;
}

export interface EndedExecution {
  readonly execution: NewExecution;
  readonly status: string;
  /** Null: the engine gave up on it. */
  readonly state: State | null;
}

export const ENGINE_METRICS = [
  'claimed',
  'committedTransitions',
  'committedBatches',
  'zombieWritesRejected',
  'unknownCommitsApplied',
  'unknownCommitsResent',
  'poisonIsolated',
  'parked',
  'takeovers',
  'dispatched',
  'ended',
  'audits',
  'auditViolations',
] as const;

export type EngineMetric = (typeof ENGINE_METRICS)[number];

export interface EngineOptions {
  readonly name: string;
  readonly leaseMs: number;
  /** No external call starts later than this before the lease would end (I6). Absent: a fifth of the lease, at most 2 s. */
  readonly leaseMarginMs?: number | undefined;
  readonly maxParallelActions: number;
  /** Of one tenant at once in this runner, 0 = as many as of all; of one action type at once, for those that are named. */
  readonly maxParallelPerTenant: number;
  readonly maxParallelPerAction: Readonly<Record<string, number>>;
  readonly maxResident: number;
  /** Executions that only wait longer than this leave memory. */
  readonly parkAfterMs: number;
  readonly abortGraceMs: number;
  readonly pollMs: number;
  readonly inboxPollMs: number;
  readonly drainMs: number;
  readonly maxNestingDepth: number;
  readonly allowRecursion: boolean;
  /** Crashes of its owner after which an execution is taken for the cause, once it ran alone. */
  readonly maxPoisonRetries: number;
  /** How long a suspect waits before it runs again. */
  readonly poisonDelayMs: number;
  /** What is given up on is kept with its cause; otherwise it has only failed. */
  readonly deadLetters: boolean;
  readonly commitSlots: number;
  /** Executions that ended longer ago are forgotten; 0 = never. */
  readonly retentionMs: number;
  /** How much one evaluation of an expression may take. */
  readonly expressionLimits: Limits;
  readonly templateStyle: TemplateStyle;
}

export const DEFAULT_ENGINE_OPTIONS: EngineOptions = {
  name: 'runner',
  leaseMs: 10_000,
  maxParallelActions: 200,
  maxParallelPerTenant: 0,
  maxParallelPerAction: {},
  maxResident: 1_600,
  parkAfterMs: 2_000,
  abortGraceMs: 5_000,
  pollMs: 500,
  inboxPollMs: 1_000,
  drainMs: 30_000,
  maxNestingDepth: 5,
  allowRecursion: false,
  maxPoisonRetries: 3,
  poisonDelayMs: 0,
  deadLetters: true,
  commitSlots: 2,
  retentionMs: 0,
  expressionLimits: DEFAULT_LIMITS,
  templateStyle: STRICT_STYLE,
};
