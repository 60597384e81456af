// The engine's options, and the observer that it reports to.

import type { Measure } from '../core/decider/input.ts';
import type { State } from '../core/decider/state.ts';
import type { Limits } from '../core/expression/evaluation.ts';
import { DEFAULT_LIMITS } from '../core/expression/evaluation.ts';
import { STRICT_STYLE, type TemplateStyle } from '../core/template/render.ts';
import type { NewExecution, OutcomeRow } from '../store/port.ts';

/** Observations for operators. Implementations log and count them; the engine never depends on them. */
export interface EngineObserver {
  warn(event: string, details: Record<string, unknown>): void;
  count(metric: EngineMetric, by?: number): void;
  ended?(ended: EndedExecution): void;
  /** A transition of this execution is durable; `seq` belongs to its last fact. */
  moved?(executionId: string, seq: number): void;
  /** Called with the duration of evaluations. */
  readonly measure?: Measure | undefined;
}

export interface EndedExecution {
  readonly execution: NewExecution;
  readonly status: string;
  /** null: the engine gave up on it. */
  readonly state: State | null;
  /** The outcome that this runner wrote, which saves a read; null: read it. */
  readonly outcome: OutcomeRow | null;
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
  'stuck',
  'stuckRetried',
] as const;

export type EngineMetric = (typeof ENGINE_METRICS)[number];

export interface EngineOptions {
  readonly name: string;
  readonly leaseMs: number;
  /** No external call starts within this time before the end of the lease (I6). Absent: a fifth of the lease, at most 2 s. */
  readonly leaseMarginMs?: number | undefined;
  readonly maxParallelActions: number;
  /** Attempts of one tenant at once in this runner (0 = no limit of its own), and of one action type at once. */
  readonly maxParallelPerTenant: number;
  readonly maxParallelPerAction: Readonly<Record<string, number>>;
  readonly maxResident: number;
  /** Of payloads, parameters and outputs. */
  readonly maxResidentBytes: number;
  /** Executions that only wait for longer than this leave memory. */
  readonly parkAfterMs: number;
  readonly abortGraceMs: number;
  readonly pollMs: number;
  readonly inboxPollMs: number;
  readonly drainMs: number;
  readonly maxNestingDepth: number;
  readonly allowRecursion: boolean;
  /** Crashes of its owner after which an execution counts as the cause, once it ran alone. */
  readonly maxPoisonRetries: number;
  /** How long a suspect waits before it runs again. */
  readonly poisonDelayMs: number;
  /** Whether a poisoned execution is kept as a dead letter with its cause, instead of only failing. */
  readonly deadLetters: boolean;
  readonly commitSlots: number;
  /** Executions that ended longer ago are removed; 0 = never. */
  readonly retentionMs: number;
  /** The limits of one evaluation. */
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
  maxResidentBytes: 512 * 1024 * 1024,
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
