// All signals: whether each names a step, and its effect on an ended execution. The decider, the inbox's SQL and the simulation
// follow this table; signal.ts defines the meaning of each signal.

interface SignalKind {
  /** Whether its payload names a step of the plan in `stepId`. */
  readonly step: 'none' | 'optional' | 'required';
  /** After the end: refused, reopens the execution, or corrects data that a repair will use. */
  readonly afterEnd: 'refused' | 'reopens' | 'corrects';
}

export const SIGNALS = {
  PAUSE: { step: 'none', afterEnd: 'refused' },
  RESUME: { step: 'none', afterEnd: 'refused' },
  RETRY_STEP: { step: 'required', afterEnd: 'reopens' },
  RERUN_FROM: { step: 'required', afterEnd: 'reopens' },
  COMPLETE_STEP: { step: 'required', afterEnd: 'reopens' },
  UPDATE_PARAMS: { step: 'optional', afterEnd: 'corrects' },
  INJECT_OVERRIDE: { step: 'required', afterEnd: 'corrects' },
  ESCALATE_ALERT: { step: 'none', afterEnd: 'refused' },
} as const satisfies Readonly<Record<string, SignalKind>>;

export type SignalType = keyof typeof SIGNALS;

export const SIGNAL_TYPES = Object.keys(SIGNALS) as SignalType[];

/** false: a newer version sent it, and this one must not pretend to have applied it. */
export const isKnownSignal = (signal: string): signal is SignalType => Object.hasOwn(SIGNALS, signal);

export const reopens = (signal: SignalType): boolean => SIGNALS[signal].afterEnd === 'reopens';

/** The identity of a signal: its type and id together. */
export const signalKey = ({ signal, signalId }: { readonly signal: SignalType; readonly signalId: string }): string =>
  `${signal}:${signalId}`;

/** The keys of reopening signals, as a regular expression that PostgreSQL and JavaScript read alike. */
export const REOPENING_KEY = `^(${SIGNAL_TYPES.filter(reopens).join('|')}):`;
