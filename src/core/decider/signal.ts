// Signals: an operator's commands to a running or ended execution. Each has an id, and a repeat changes nothing (I10). A signal
// that cannot be applied is recorded as refused, with the reason, so that an operator never has to guess.

import { isJsonObject } from '../json/json.ts';
import { type Deciding, emit } from './deciding.ts';
import type { Input } from './input.ts';
import {
  completeRefusal,
  completeStep,
  nodeIndex,
  rerunFrom,
  rerunRefusal,
  retryRefusal,
  retryStep,
} from './repair.ts';
import { reconsiderAll } from './routing.ts';
import { isKnownSignal, reopens, SIGNALS, type SignalType, signalKey } from './signal-type.ts';
import { isTerminal, type State } from './state.ts';
import { stop } from './stopping.ts';

type SignalInput = Extract<Input, { type: 'signal' }>;

export function applySignal(deciding: Deciding, input: SignalInput): void {
  const { state } = deciding;
  if (state.signals.has(signalKey(input))) return;
  const { signalId, signal, payload } = input;
  const refused = signalRefusal(state, input);
  emit(deciding, { type: 'SignalApplied', signalId, signal, payload, ...(refused === null ? {} : { refused }) });
  if (refused !== null) return;
  switch (signal) {
    case 'PAUSE':
      return emit(deciding, { type: 'ExecutionPaused' });
    case 'RESUME':
      return resume(deciding);
    case 'RETRY_STEP':
      return retryStep(deciding, nodeIndex(state, payload), payload.force === true);
    case 'RERUN_FROM':
      return rerunFrom(deciding, nodeIndex(state, payload));
    case 'COMPLETE_STEP':
      return completeStep(deciding, nodeIndex(state, payload), payload.outputs ?? {});
    case 'UPDATE_PARAMS':
    case 'INJECT_OVERRIDE':
      // These act through the state.
      return;
    case 'ESCALATE_ALERT':
      // Acts through the outbox.
      return;
  }
}

/**
 * An ended execution can be reopened, and its parameters corrected before that. But not if the engine gave up in the middle:
 * that is a dead letter, and is requeued.
 */
export function heeds({ status, unresolved }: State, signal: SignalType): boolean {
  if (!isKnownSignal(signal)) return false;
  if (!isTerminal(status) || reopens(signal)) return true;
  return SIGNALS[signal].afterEnd === 'corrects' && unresolved === 0;
}

/** Why the signal cannot be applied to an execution in this state; null: it can. */
export function signalRefusal(
  state: State,
  { signal, payload }: Pick<SignalInput, 'signal' | 'payload'>,
): string | null {
  if (!isKnownSignal(signal)) return unknownSignal(signal);
  if (!heeds(state, signal)) return `the execution has ended (${state.status})`;
  if (state.stopping !== null) return 'the execution is stopping';
  if (state.undo !== null && signal === 'PAUSE') return 'the execution is compensating, which is not paused';
  const unknown = unknownStep(state, { signal, payload });
  if (unknown !== null) return unknown;
  switch (signal) {
    case 'PAUSE':
      return state.status === 'Paused' ? 'already paused' : null;
    case 'RESUME':
      return state.status === 'Paused' ? null : 'not paused';
    case 'RETRY_STEP':
      return retryRefusal(state, payload);
    case 'RERUN_FROM':
      return rerunRefusal(state, payload);
    case 'COMPLETE_STEP':
      return completeRefusal(state, payload);
    case 'UPDATE_PARAMS':
      return isJsonObject(payload.newParams) ? null : 'newParams must be an object';
    case 'INJECT_OVERRIDE':
      return isJsonObject(payload.override) ? null : 'override must be an object';
    case 'ESCALATE_ALERT':
      return null;
  }
}

/** Recorded as refused: "applied" would be a lie, and a newer runner could not apply it again. */
const unknownSignal = (signal: never): string => `this version knows no signal ${JSON.stringify(signal)}`;

/** The plan has no such step, whatever the state of the execution. */
export function unknownStep(state: State, { signal, payload }: Pick<SignalInput, 'signal' | 'payload'>): string | null {
  const { step } = SIGNALS[signal];
  const isNamed = step === 'required' || (step === 'optional' && payload.stepId !== undefined);
  if (!isNamed || nodeIndex(state, payload) >= 0) return null;
  return `no step ${JSON.stringify(payload.stepId ?? null)}`;
}

/** On resume the deadline comes first, then a failure that happened during the pause, then nodes that may start. */
function resume(deciding: Deciding): void {
  const { state, now } = deciding;
  emit(deciding, { type: 'ExecutionResumed' });
  if (state.deadline !== null && state.deadline <= now) return stop(deciding, 'TimedOut', timeoutError(state));
  reconsiderAll(deciding);
}

export function timeoutError(state: State): { code: string; message: string } {
  return { code: 'EXECUTION_TIMEOUT', message: `The execution took longer than ${state.plan.timeoutMs} ms` };
}
