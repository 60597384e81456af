// The signals there are: whether each names a step, and what it does to an execution that has ended. The decider, the inbox's SQL and the
// simulation follow this table; signal.ts says what each signal means.

interface SignalKind {
  /** Whether its payload names a step of the plan in `stepId`. */
  readonly step: 'none' | 'optional' | 'required';
  /** After the end: it is refused, it takes the execution up again, or it may put right what a repair will use. */
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

/** False: a newer version sent it, and this one must not pretend to have applied it. */
export const isKnownSignal = (signal: string): signal is SignalType => Object.hasOwn(SIGNALS, signal);

export const reopens = (signal: SignalType): boolean => SIGNALS[signal].afterEnd === 'reopens';

/** What makes a signal the same as one before: its type and its id together. */
export const signalKey = ({ signal, signalId }: { readonly signal: SignalType; readonly signalId: string }): string =>
  `${signal}:${signalId}`;

/** Which of these keys reopen an execution, as a regular expression that PostgreSQL and JavaScript read alike. */
export const REOPENING_KEY = `^(${SIGNAL_TYPES.filter(reopens).join('|')}):`;
