// The decisions of one turn: on everything in the execution's queue, in one commit item. Each decision is a journal row. Nothing
// here touches the database or the outside world.

import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import type { Command } from '../../core/decider/command.ts';
import { type Decision, decide } from '../../core/decider/decide.ts';
import type { Fact, Transition } from '../../core/decider/fact.ts';
import { idOf } from '../../core/decider/frame.ts';
import type { DecideContext } from '../../core/decider/input.ts';
import { contextSnapshot } from '../../core/decider/snapshot.ts';
import { isTerminal, type State } from '../../core/decider/state.ts';
import { resultOf } from '../../core/decider/stopping.ts';
import type { Json } from '../../core/json/json.ts';
import type { NewMessage, OutcomeRow, Store } from '../../store/port.ts';
import type { TriggerCheck } from '../../workflow/trigger-check.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';
import type { TurnRows } from './committer.ts';
import { added, attemptRows, encodeFacts, NONE } from './journal.ts';
import { mailBody, mailKey } from './mail.ts';
import type { QueuedInput, Resident } from './resident.ts';
import type { Tracing } from './tracing-port.ts';

const PAUSES: ReadonlySet<Fact['type']> = new Set(['ExecutionPaused', 'ExecutionResumed']);

/** The parts that turns need, on every engine. */
export interface TurnParts {
  readonly store: Store;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly newId: () => string;
  readonly newSeed: () => number;
  /** Absent: no traces. */
  readonly tracing?: Tracing | undefined;
  /** Throws TRIGGER_INVALID; absent: a child accepts any payload. */
  readonly checkTrigger?: TriggerCheck['check'] | undefined;
}

export interface Turn {
  readonly written: TurnRows;
  readonly commands: Command[];
  /** The decided facts, in order. */
  readonly transitions: Transition[];
  /** Whether the execution ended in this turn. An execution that had ended before is written unchanged. */
  readonly ends: boolean;
}

/** Throws only because of a bug: in the decider, or in rows of a former version. */
export function decideTurn({ clock, newSeed, newId, options, observer }: TurnParts, resident: Resident): Turn {
  const { state, execution } = resident;
  const { abortGraceMs, expressionLimits: limits, templateStyle } = options;
  const { measure } = observer;
  const context = { now: clock.now(), seed: newSeed(), abortGraceMs, limits, templateStyle, measure };
  const draft = nothingWritten(execution.executionId);
  let commands: Command[] = [];
  let transitions: Transition[] = [];
  let ends = false;
  let effort = 0;
  while (resident.queue.length > 0 && !ends && effort < EFFORT_PER_TURN) {
    const queued = resident.queue.shift()!;
    // Stops at the input that ends the execution. If it had ended before, it goes on: the next message may reopen it.
    const wasOver = isTerminal(state.status);
    const decision = decide(state, queued.input, context);
    resident.decided(decision, queued);
    record(draft, resident, decision, queued);
    if (commands.length === 0) commands = decision.commands;
    else commands.push(...decision.commands);
    transitions = added(transitions, decision.transition);
    effort += decision.effort;
    ends = !wasOver && isTerminal(state.status);
  }
  for (const command of commands) {
    if (command.type === 'cancelChild')
      draft.sent = added(draft.sent, cancelMessage(command.childId, command.reason, newId()));
  }
  // Also when it had ended before: a refused reopening or a correction leaves it ended, and its outcome is written again. Only
  // the outcome had its outputs.
  if (isTerminal(state.status)) {
    if (state.status === 'Succeeded' && state.outputs === undefined)
      state.outputs = outputsAgain(state, context, observer);
    recordEnd(draft, resident, newId);
  } else {
    forgetCrashes(draft, resident);
    showPause(draft, resident, transitions);
  }
  return { written: draft, commands: withoutTheStopped(resident, commands), transitions, ends };
}

/** Limits may be tighter now than when the execution succeeded. It stays succeeded all the same (I13). */
function outputsAgain(state: State, context: DecideContext, observer: EngineObserver): Json | undefined {
  try {
    return resultOf(state, context, () => {});
  } catch (error) {
    const { executionId } = state.start;
    observer.warn('the outputs of an ended execution could not be derived again', {
      executionId,
      error: String(error),
    });
    return undefined;
  }
}

/** The limit of one decision: the rest waits for the next turn, after others had theirs (S4, I22). */
const EFFORT_PER_TURN = 0.5;

/** No decision, but there may be something to write. */
export function emptyTurn({ execution }: Resident): Turn {
  return { written: nothingWritten(execution.executionId), commands: [], transitions: [], ends: false };
}

/** An attempt that was started and aborted in the same turn never runs: the next turn learns that it stopped. */
function withoutTheStopped(resident: Resident, commands: Command[]): Command[] {
  if (!commands.some(({ type }) => type === 'abort')) return commands;
  const stopped = new Set(commands.flatMap((command) => (command.type === 'abort' ? [command.node] : [])));
  return commands.filter((command) => {
    if (command.type !== 'runAction' || !stopped.has(command.node)) return true;
    const { node, attempt } = command;
    const error = { code: 'CANCELLED', message: 'The execution stopped before the attempt began' };
    resident.queue.push({ input: { type: 'attemptFailed', node, attempt, error, retryable: false, aborted: true } });
    return false;
  });
}

/**
 * The first attempt that ends after a crash shows that this execution was not the cause. An attempt that begins shows
 * nothing.
 */
function forgetCrashes(draft: Draft, resident: Resident): void {
  if (!resident.owesCrashReset || draft.attempts.length === 0) return;
  draft.crashResets = [resident.execution.executionId];
  resident.crashesForgotten();
}

/** Written at once, not when it leaves memory: a running attempt may take long, and nothing else starts. */
function showPause(draft: Draft, { execution, state }: Resident, transitions: readonly Transition[]): void {
  const changes = transitions.some(({ facts }) => facts.some(({ type }) => PAUSES.has(type)));
  if (!changes) return;
  if (state.status === 'Paused') draft.paused = [execution.executionId];
  else draft.resumed = [execution.executionId];
}

/** In the same commit as its fact, so that no crash loses the cascade. */
function cancelMessage(childId: string, reason: string, id: string): NewMessage {
  const mail = { kind: 'cancel' as const, reason };
  return { id, executionId: childId, kind: mail.kind, key: mailKey(mail), body: mailBody(mail) };
}

type Draft = { -readonly [K in keyof TurnRows]: TurnRows[K] };

function nothingWritten(executionId: string): Draft {
  return {
    executionId,
    bytes: 0,
    events: NONE,
    attempts: NONE,
    outcomes: NONE,
    ended: NONE,
    children: NONE,
    consumed: NONE,
    sent: NONE,
    links: NONE,
    logs: NONE,
  };
}

function record(draft: Draft, resident: Resident, { transition, ended }: Decision, queued: QueuedInput): void {
  const { executionId, tenantId } = resident.execution;
  if (queued.mailId !== undefined) draft.consumed = added(draft.consumed, queued.mailId);
  if (transition.facts.length === 0) return;
  const facts = encodeFacts(transition.facts);
  const inputs = transition.inputs === undefined ? null : JSON.stringify(transition.inputs);
  draft.events = added(draft.events, { executionId, seq: transition.seq, at: transition.at, facts, inputs });
  draft.bytes += facts.length + (inputs?.length ?? 0);
  for (const row of attemptRows(resident.state, transition, ended, queued)) {
    draft.attempts = added(draft.attempts, row);
    draft.bytes += (row.outputs?.length ?? 0) + (row.error?.length ?? 0);
  }
  const finished = finishedAttempt(transition.facts);
  if (queued.extras === undefined || finished === null) return;
  const nodeId = idOf(resident.state, finished.node);
  const attempt = { executionId, nodeId, attempt: finished.attempt };
  draft.logs = [...draft.logs, ...queued.extras.logs.map((line) => ({ ...attempt, ...line }))];
  const links = queued.extras.links.map(({ url, ...link }) => ({ tenantId, ...attempt, ...link, url: url ?? null }));
  draft.links = [...draft.links, ...links];
}

function finishedAttempt(facts: readonly Fact[]): { node: number; attempt: number } | null {
  const [first] = facts;
  return first !== undefined && 'attempt' in first ? { node: first.node, attempt: first.attempt } : null;
}

/** The outcome, the end of the queue row, and the message for a waiting parent. */
function recordEnd(draft: Draft, resident: Resident, newId: () => string): void {
  const { execution, state } = resident;
  const { executionId, tenantId, parentId, parentNode } = execution;
  const outcome: OutcomeRow = {
    executionId,
    tenantId,
    status: state.status,
    outputs: state.outputs === undefined ? null : JSON.stringify(state.outputs),
    error: state.error === null ? null : JSON.stringify(state.error),
    contextSnapshot: JSON.stringify(contextSnapshot(state)),
    startedAt: state.startedAt ?? state.at,
    endedAt: state.at,
  };
  draft.outcomes = [outcome];
  draft.ended = [executionId];
  draft.bytes += (outcome.outputs?.length ?? 0) + (outcome.contextSnapshot?.length ?? 0);
  if (parentId === null || parentNode === null) return;
  draft.sent = added(draft.sent, newsForParent(resident, parentId, parentNode, newId()));
}

function newsForParent({ execution, state }: Resident, parentId: string, parentNode: string, id: string): NewMessage {
  const mail = {
    kind: 'child' as const,
    childId: execution.executionId,
    nodeId: parentNode,
    status: state.status as 'Succeeded',
    ...(state.outputs === undefined ? {} : { outputs: state.outputs }),
    ...(state.error === null ? {} : { error: state.error }),
  };
  return { id, executionId: parentId, kind: 'child', key: mailKey(mail), body: mailBody(mail) };
}
