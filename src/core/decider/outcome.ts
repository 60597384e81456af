// What the end of an attempt means for its node: success (if the context has room), another try, or failure.

import { isJsonObject, type Json } from '../json/json.ts';
import { ruleFor } from '../retry/error-match.ts';
import { retryDelayMs } from '../retry/retry.ts';
import { type Deciding, emit } from './deciding.ts';
import type { NodeError } from './fact.ts';
import { idOf, nodeAt, planNodeOf } from './frame.ts';
import type { Callback } from './state.ts';

export interface AttemptSuccess {
  readonly outputs: Json;
  /** The length of the outputs as text, if the caller knows it. */
  readonly bytes?: number | undefined;
  /** For a callback: only the beginning of its payload was kept. */
  readonly truncated?: true | undefined;
}

export interface AttemptFailure {
  readonly error: NodeError;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly timedOut?: boolean | undefined;
  readonly aborted?: boolean | undefined;
  readonly outputs?: Json | undefined;
}

/** The callback that this node waited for has come. */
export function receiveCallback(deciding: Deciding, index: number, { payload, truncated }: Callback): void {
  succeedAttempt(deciding, index, { outputs: payload, truncated });
}

export function succeedAttempt(deciding: Deciding, index: number, success: AttemptSuccess): void {
  const { state } = deciding;
  const { attempts: attempt, loop } = nodeAt(state, index)!;
  const { outputs, bytes = JSON.stringify(outputs).length, truncated } = success;
  // The results of a loop have already been counted item by item.
  const room = roomFor(deciding, bytes - (loop?.bytes ?? 0));
  if (room === 'none') {
    const { format, snapshot } = state.plan;
    // Only graphs may set it themselves; for other formats the operator does.
    const option = `${format === 'graph' ? 'snapshot' : 'definition'}.maxContextSizeBytes`;
    const held = `${state.contextBytes} of ${snapshot.maxContextSizeBytes} bytes (${option})`;
    const message = `${bytes} bytes of outputs do not fit: the context holds ${held}`;
    const error = { code: 'CONTEXT_OVERFLOW', message };
    return format === 'pipeline'
      ? succeedWithoutBody(deciding, index, outputs, message)
      : failAttempt(deciding, index, { error, retryable: false });
  }
  const cut = truncated ? { truncated } : {};
  emit(deciding, { type: 'NodeSucceeded', node: index, attempt, outputs, bytes, ...cut, ...room });
  warnOfOverflow(deciding, index, room);
  deciding.finished.push(index);
}

/**
 * A pipeline's request was answered, and its status decides what comes next: a charge that was made must not look like a
 * failed one. The body is cut, like one over 256 KB, and the rest is small enough not to count.
 */
function succeedWithoutBody(deciding: Deciding, node: number, outputs: Json, message: string): void {
  const attempt = nodeAt(deciding.state, node)!.attempts;
  const isCallback = planNodeOf(deciding.state, node).step.kind === 'webhook';
  const left = isCallback ? '' : withoutBody(outputs);
  const bytes = JSON.stringify(left).length;
  const cut = isCallback ? { truncated: true as const } : {};
  emit(deciding, { type: 'NodeSucceeded', node, attempt, outputs: left, bytes, ...cut });
  emit(deciding, { type: 'Warning', code: 'CONTEXT_OVERFLOW', message: `the body was left out: ${message}`, node });
  deciding.finished.push(node);
}

/** A sleep has no body. */
function withoutBody(outputs: Json): Json {
  const isResponse = isJsonObject(outputs) && 'body' in outputs;
  return isResponse ? { ...outputs, headers: {}, body: '', is_truncated: true } : outputs;
}

type Room = { dropped?: true; pruned?: number[] } | 'none';

function roomFor({ state }: Deciding, bytes: number): Room {
  const { maxContextSizeBytes, overflowBehavior } = state.plan.snapshot;
  let excess = state.contextBytes + bytes - maxContextSizeBytes;
  if (excess <= 0) return {};
  if (overflowBehavior === 'Fail') return 'none';
  if (overflowBehavior === 'DropOversize' || bytes > maxContextSizeBytes) return { dropped: true };
  const pruned: number[] = [];
  const oldestFirst = state.nodes
    .map((node, index) => ({ index, order: node.dataOrder, bytes: node.bytes }))
    .filter(({ order }) => order >= 0)
    .sort((a, b) => a.order - b.order);
  for (const { index, bytes: freed } of oldestFirst) {
    if (excess <= 0) break;
    pruned.push(index);
    excess -= freed;
  }
  return { pruned };
}

const MAX_NAMED = 10;

/** A reader of removed data fails only when it reads, and the outputs of the execution may lack the data. */
function warnOfOverflow(deciding: Deciding, index: number, { dropped, pruned }: Exclude<Room, 'none'>): void {
  const leftOut = dropped ? [index] : pruned;
  if (leftOut === undefined) return;
  const { snapshot } = deciding.state.plan;
  const names = leftOut
    .slice(0, MAX_NAMED)
    .map((node) => `\`${idOf(deciding.state, node)}\``)
    .join(', ');
  const others = leftOut.length > MAX_NAMED ? ` and ${leftOut.length - MAX_NAMED} more` : '';
  const message = `the outputs of ${names}${others} were left out of the context, which holds at most ${snapshot.maxContextSizeBytes} bytes (${snapshot.overflowBehavior})`;
  emit(deciding, { type: 'Warning', code: 'CONTEXT_OVERFLOW', message, node: index });
}

export function failAttempt(deciding: Deciding, index: number, failure: AttemptFailure): void {
  const { state } = deciding;
  const attempt = nodeAt(state, index)!.attempts;
  const { error, timedOut, outputs } = failure;
  if (failure.aborted && state.stopping !== null) {
    return emit(deciding, { type: 'NodeCancelled', node: index, attempt, error });
  }
  const until = nextTryAt(deciding, index, failure);
  if (until !== null) {
    const late = timedOut ? { timedOut: true as const } : {};
    return emit(deciding, { type: 'RetryScheduled', node: index, attempt, error, until, ...late });
  }
  const told = outputs === undefined ? {} : { outputs };
  emit(deciding, { type: timedOut ? 'NodeTimedOut' : 'NodeFailed', node: index, attempt, error, ...told });
  deciding.finished.push(index);
}

function nextTryAt({ state, context, now }: Deciding, index: number, failure: AttemptFailure): number | null {
  if (state.stopping !== null) return null;
  const { policy } = planNodeOf(state, index);
  const otherwise = failure.retryable ? policy.retry : null;
  const retry = policy.rules === undefined ? otherwise : ruleFor(policy.rules, failure);
  if (retry === null) return null;
  const { attempts, attemptBase } = nodeAt(state, index)!;
  const tries = attempts - attemptBase;
  if (tries >= retry.maxAttempts) return null;
  const delayMs = retryDelayMs(retry, tries, context.seed ^ Math.imul(index + 1, 0x9e3779b1) ^ attempts);
  return now + Math.max(delayMs, failure.retryAfterMs ?? 0);
}
