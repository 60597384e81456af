// The journal for people: one event per fact, with names instead of indexes, and the log lines of actions. A log line has the seq
// of the fact that ended its attempt (they were committed together) and comes right before it, so a reader that resumes after a
// seq misses nothing and sees nothing twice.

import type { Fact } from '../core/decider/fact.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { actionTypeOf } from '../core/plan/action-type.ts';
import type { Plan, Step } from '../core/plan/plan.ts';
import { nodeIdAt, nodeIndexOf, placeOf, planNodeAt } from '../core/plan/virtual-node.ts';
import { WARNING_LEVEL } from '../engine/attempt/disabled-actions.ts';
import type { LiveLine } from '../store/live-line-port.ts';
import type { ActionLogRow, JournalRow, JsonText } from '../store/port.ts';

export interface ExecutionEvent {
  readonly seq: number;
  readonly at: number;
  readonly level: 'Info' | 'Warn' | 'Error' | (string & {});
  readonly category: string;
  readonly type: string;
  readonly nodeId?: string;
  readonly data: JsonObject;
  /** Not a fact: a log line, or a signal that came too late. It shares its seq with the fact after it. */
  readonly isLine?: true;
  /** Of a line: its place in the log of its attempt. */
  readonly place?: number;
  /** Of a line: its attempt still runs. */
  readonly isLive?: true;
}

/** Events after `afterSeq`. Without a plan (it can no longer be loaded) nodes are shown by number. */
export function eventsOf(
  plan: Plan | null,
  rows: readonly JournalRow[],
  logs: readonly ActionLogRow[],
  afterSeq: number,
) {
  const logsOf = Map.groupBy(logs, ({ nodeId, attempt }) => `${attempt}:${nodeId}`);
  const events: ExecutionEvent[] = [];
  for (const { seq: first, at, facts } of rows) {
    for (const [place, fact] of (JSON.parse(facts) as Fact[]).entries()) {
      const seq = first + place;
      if (seq <= afterSeq) continue;
      events.push(...logEvents(plan, fact, seq, logsOf), factEvent(plan, fact, seq, at));
    }
  }
  return events;
}

/** Whether these rows contain the end of the execution. */
export function tellsTheEnd(rows: readonly JournalRow[]): boolean {
  const last = (JSON.parse(rows.at(-1)?.facts ?? '[]') as Fact[]).at(-1);
  return last !== undefined && ENDS.has(last.type);
}

const ENDS: ReadonlySet<Fact['type']> = new Set([
  'ExecutionSucceeded',
  'ExecutionFailed',
  'ExecutionCancelled',
  'ExecutionTimedOut',
]);

/** Signals that came too late stand right before the end, as refused, and share its seq like log lines. */
export function withMissedSignals(
  events: readonly ExecutionEvent[],
  missed: readonly { readonly body: JsonText; readonly at: number }[],
): ExecutionEvent[] {
  const end = events.at(-1);
  if (end === undefined) return [];
  const ignored = missed.map(({ body, at }): ExecutionEvent => {
    const { signalId, signal, payload } = JSON.parse(body) as { signalId: string; signal: string; payload: JsonObject };
    return {
      seq: end.seq,
      at,
      level: 'Warn',
      category: 'Orchestrator',
      type: 'SignalApplied',
      data: { signalId, signal, payload, refused: 'ignored: the execution had ended' },
      isLine: true,
    };
  });
  return [...events.slice(0, -1), ...ignored, end];
}

/** Whether the page has ended attempts: only they have log lines. */
export function endsAttempts(rows: readonly JournalRow[]): boolean {
  return rows.some(({ facts }) => /"type":"(Node(Succeeded|Failed|TimedOut|Cancelled)|RetryScheduled)"/.test(facts));
}

function factEvent(plan: Plan | null, fact: Fact, seq: number, at: number): ExecutionEvent {
  const { type, ...rest } = fact;
  const { node, ...data } = rest as { node?: number } & JsonObject;
  const named = node === undefined ? {} : { nodeId: nodeName(plan, node) };
  return {
    seq,
    at,
    level: levelOf(fact),
    category: 'Orchestrator',
    type,
    ...named,
    data: withTimes(withNames(plan, fact, data)),
  };
}

function withNames(plan: Plan | null, fact: Fact, data: JsonObject): JsonObject {
  switch (fact.type) {
    case 'EdgesResolved':
      return {
        satisfied: fact.satisfied.map((edge) => edgeName(plan, edge, fact.frame)),
        unsatisfied: fact.unsatisfied.map((edge) => edgeName(plan, edge, fact.frame)),
        ...(fact.unhandled === undefined ? {} : { unhandled: nodeName(plan, fact.unhandled) }),
      };
    case 'NodesReset':
      return { ...data, nodes: fact.nodes.map((node) => nodeName(plan, node)) };
    case 'NodeSucceeded':
      return fact.pruned === undefined ? data : { ...data, pruned: fact.pruned.map((node) => nodeName(plan, node)) };
    default:
      return data;
  }
}

const TIMES = ['deadline', 'until', 'graceUntil'] as const;

/** Times in facts are numbers or null. Outside they are text, and a missing one is absent. */
function withTimes(data: JsonObject): JsonObject {
  const shown = { ...data };
  for (const name of TIMES) {
    const time = shown[name];
    if (typeof time === 'number') shown[name] = new Date(time).toISOString();
    if (time === null) delete shown[name];
  }
  return shown;
}

function levelOf(fact: Fact): ExecutionEvent['level'] {
  switch (fact.type) {
    case 'NodeFailed':
    case 'NodeTimedOut':
    case 'ExecutionFailed':
    case 'ExecutionTimedOut':
      return 'Error';
    case 'Warning':
    case 'RetryScheduled':
      return 'Warn';
    case 'SignalApplied':
      return fact.refused === undefined ? 'Info' : 'Warn';
    default:
      return 'Info';
  }
}

function logEvents(
  plan: Plan | null,
  fact: Fact,
  seq: number,
  logsOf: ReadonlyMap<string, ActionLogRow[]>,
): ExecutionEvent[] {
  if (!('node' in fact) || !('attempt' in fact) || fact.node === undefined || !endsAttempt(fact)) return [];
  const nodeId = nodeName(plan, fact.node);
  const lines = logsOf.get(`${fact.attempt}:${nodeId}`) ?? [];
  const step = plan === null ? undefined : stepAt(plan, fact.node);
  return lines.map((line, place) => lineEvent(step, line, seq, place));
}

/** Lines of attempts that still run: they stand after everything that has happened up to `seq`. */
export function liveEvents(plan: Plan | null, lines: readonly LiveLine[], seq: number): ExecutionEvent[] {
  return lines.map((line) => {
    const index = plan === null ? -1 : nodeIndexOf(plan, line.nodeId);
    const step = plan === null || index < 0 ? undefined : stepAt(plan, index);
    return { ...lineEvent(step, line, seq, line.line), isLive: true as const };
  });
}

function lineEvent(step: Step | undefined, row: ActionLogRow, seq: number, place: number): ExecutionEvent {
  const { nodeId, at, level, message, data, attempt } = row;
  const about = { seq, at, nodeId, isLine: true as const, place };
  if (level === WARNING_LEVEL) {
    const { code } = JSON.parse(data ?? '{}') as { code?: string };
    return {
      ...about,
      level: 'Warn',
      category: 'Orchestrator',
      type: 'Warning',
      data: { ...(code === undefined ? {} : { code }), message },
    };
  }
  return {
    ...about,
    level: level.charAt(0).toUpperCase() + level.slice(1),
    category: `Action:${step === undefined ? 'unknown' : actionTypeOf(step)}`,
    type: 'Log',
    data: { message, attempt, ...(data === null ? {} : { data: JSON.parse(data) as Json }) },
  };
}

/** What a follower has been shown of each attempt's log. A line that was shown while its attempt ran is not shown again with its result. */
export class ShownLines {
  private readonly attempts = new Map<string, { at: number; place: number; readonly live: Set<string> }>();

  /** The events without lines that were shown; those that are left count as shown. */
  news(events: readonly ExecutionEvent[]): ExecutionEvent[] {
    return events.filter(({ isLine, isLive, type, nodeId, data, at, place = 0 }) => {
      if (isLine !== true || type !== 'Log') return true;
      const key = `${String(data.attempt)}:${nodeId}`;
      const seen = this.attempts.get(key) ?? { at: Number.NEGATIVE_INFINITY, place: -1, live: new Set<string>() };
      this.attempts.set(key, seen);
      const line = `${at}:${String(data.message)}`;
      // An attempt that began again after a crash writes its lines anew: they are later.
      const isLater = at > seen.at || (at === seen.at && place > seen.place);
      // The lines of a result may be in any order of time: only those that were shown live are left out.
      if (isLive === true ? !isLater : seen.live.has(line)) return false;
      if (isLive === true) seen.live.add(line);
      if (isLater) Object.assign(seen, { at, place });
      return true;
    });
  }
}

function endsAttempt({ type }: Fact): boolean {
  return type !== 'NodeStarted' && type !== 'NodeSleeping' && type !== 'NodeWaiting';
}

const nodeName = (plan: Plan | null, node: number): string => (plan === null ? `#${node}` : nodeIdAt(plan, node));

const stepAt = (plan: Plan, node: number): Step | undefined =>
  node < plan.nodes.length || placeOf(plan, node) !== null ? planNodeAt(plan, node).step : undefined;

/** Edges of an item are numbered within it. */
function edgeName(plan: Plan | null, index: number, base = 0): Json {
  const body = plan === null || base === 0 ? null : placeOf(plan, base)?.body;
  const edge = (body ?? plan)?.edges[index];
  if (edge === undefined) return `#${index}`;
  return { from: nodeName(plan, base + edge.from), to: nodeName(plan, base + edge.to), when: edge.when };
}
