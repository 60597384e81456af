// The folded state of one execution: what the journal adds up to. Only evolve.ts changes it. Counters and the timer heap
// are kept beside the plain facts so that each decision costs O(1) per fact, however large or old the execution is.

import { emptyRecord, type Json, type JsonObject } from '../json/json.ts';
import type { Plan } from '../plan/plan.ts';
import { shownVersion } from '../plan/shown-version.ts';
import type { ExecutionError, NodeError } from './fact.ts';
import { createTimerHeap, type TimerHeap } from './timer-heap.ts';

/** What an execution was started with: the part of an expression's scope that never changes. */
export interface ExecutionStart {
  readonly executionId: string;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly trigger: Json;
  readonly spec?: Json;
  readonly principal: Json;
  readonly correlationId: string;
  /** Callback URLs of the webhook nodes, by node id. */
  readonly callbackUrls: Readonly<Record<string, string>>;
}

export type ExecutionStatus = 'Pending' | 'Running' | 'Paused' | 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export type NodeStatus =
  | 'Pending'
  | 'Running'
  | 'Retrying'
  | 'Sleeping'
  | 'Waiting'
  | 'Succeeded'
  | 'Failed'
  | 'Skipped'
  | 'Cancelled'
  | 'TimedOut';

export type EdgeState = 'pending' | 'satisfied' | 'unsatisfied';

/** What a callback brought. */
export interface Callback {
  readonly payload: Json;
  /** Only the beginning of it was kept. */
  readonly truncated?: true;
}

export const callbackOf = ({ payload, truncated }: Callback): Callback =>
  truncated === true ? { payload, truncated } : { payload };

export interface NodeState {
  status: NodeStatus;
  /** Attempts started so far; it goes on counting after a reset, so that (node, attempt) stays unique. */
  attempts: number;
  /** Attempts that no longer count against the retry policy: those before the last reset. */
  attemptBase: number;
  pendingEdges: number;
  satisfiedEdges: number;
  startedAt: number | null;
  /** When the first attempt since the last reset began; `startedAt` is the current one's. */
  firstStartedAt: number | null;
  endedAt: number | null;
  /** Sequence of the transition that started the current attempt. */
  startedSeq: number;
  /** Sequence of the transition in which the parameters were rendered; -1 = not yet. */
  renderedSeq: number;
  /** Rendered parameters before patches; undefined when not in memory (they are in the journal, at renderedSeq). */
  params: Json | undefined;
  until: number | null;
  /** Of a sleep: its attempt times out at `until`. */
  cut: boolean;
  childId: string | null;
  reason: string | null;
  /** Skipped because the execution ended, not by routing. */
  stopped: boolean;
  /** A callback that came before the node waited for it. */
  early: Callback | null;
  /** Of a callback's payload only the beginning was kept. */
  truncated: boolean;
  error: NodeError | null;
  bytes: number;
  /** JSON type of the outputs. */
  dataType: string | null;
  /** Order in which the data arrived, for pruning the oldest first; -1 = not in the context. */
  dataOrder: number;
  patch: JsonObject | null;
  override: JsonObject | null;
}

export interface State {
  readonly plan: Plan;
  readonly start: ExecutionStart;
  status: ExecutionStatus;
  /** Sequence number of the next fact, and of the first fact of the transition that is being folded. */
  seq: number;
  transitionSeq: number;
  /** Time of the last transition: time never runs backwards within an execution. */
  at: number;
  startedAt: number | null;
  deadline: number | null;
  generation: number;
  stopping: { outcome: 'Failed' | 'Cancelled' | 'TimedOut'; error: ExecutionError; graceUntil: number } | null;
  /** Unhandled failures since the last (re)open: they end the execution, at once or when it is resumed or drained. */
  readonly fatal: Set<number>;
  /** Nodes whose failure nothing handled: the execution cannot succeed while there are any. */
  readonly unhandledNodes: Set<number>;
  error: ExecutionError | null;
  outputs: Json | undefined;
  readonly nodes: NodeState[];
  readonly edges: EdgeState[];
  /** Keys of the signals that were applied or refused: a repeat is a no-op. */
  readonly signals: Set<string>;
  patch: JsonObject | null;
  /** Nodes not yet in a final status / with something in flight (running, retrying, sleeping, waiting). */
  unresolved: number;
  inFlight: number;
  contextBytes: number;
  dataCount: number;
  readonly timers: TimerHeap;
  /** The scope of expressions. `data` is the part that grows: context.data, tasks or steps, by format. */
  readonly data: Record<string, Json>;
  readonly scope: Readonly<Record<string, unknown>>;
}

export function isTerminal(status: ExecutionStatus): boolean {
  return status === 'Succeeded' || status === 'Failed' || status === 'Cancelled' || status === 'TimedOut';
}

export function isFinal(status: NodeStatus): boolean {
  switch (status) {
    case 'Succeeded':
    case 'Failed':
    case 'Skipped':
    case 'Cancelled':
    case 'TimedOut':
      return true;
    default:
      return false;
  }
}

export function initialState(plan: Plan, start: ExecutionStart): State {
  const data = emptyRecord<Json>();
  return {
    plan,
    start,
    status: 'Pending',
    seq: 0,
    transitionSeq: 0,
    at: 0,
    startedAt: null,
    deadline: null,
    generation: 0,
    stopping: null,
    fatal: new Set(),
    unhandledNodes: new Set(),
    error: null,
    outputs: undefined,
    nodes: plan.nodes.map((node) => initialNode(node.incoming.length)),
    edges: plan.edges.map(() => 'pending'),
    signals: new Set(),
    patch: null,
    unresolved: plan.nodes.length,
    inFlight: 0,
    contextBytes: 0,
    dataCount: 0,
    timers: createTimerHeap(),
    data,
    scope: scopeOf(plan, start, data),
  };
}

function initialNode(pendingEdges: number): NodeState {
  return {
    status: 'Pending',
    attempts: 0,
    attemptBase: 0,
    pendingEdges,
    satisfiedEdges: 0,
    startedAt: null,
    firstStartedAt: null,
    endedAt: null,
    startedSeq: -1,
    renderedSeq: -1,
    params: undefined,
    until: null,
    cut: false,
    childId: null,
    reason: null,
    stopped: false,
    early: null,
    truncated: false,
    error: null,
    bytes: 0,
    dataType: null,
    dataOrder: -1,
    patch: null,
    override: null,
  };
}

function scopeOf(plan: Plan, start: ExecutionStart, data: Record<string, Json>): Readonly<Record<string, unknown>> {
  switch (plan.format) {
    case 'graph':
      return {
        trigger: triggerWithSpec(start),
        context: { data },
        vars: plan.vars,
        spec: start.spec,
        execution: {
          id: start.executionId,
          workflowId: start.workflowId,
          version: shownVersion(start.version),
          tenantId: start.tenantId,
          correlationId: start.correlationId,
        },
        principal: start.principal,
      };
    case 'pipeline':
      return { trigger: start.trigger, tasks: data, wait: waitScope(start.callbackUrls) };
    case 'plan':
      return { inputs: start.trigger, steps: data, scope: plan.scope };
  }
}

/** `spec` of the execute request is visible as `trigger.spec` too, unless the trigger has one of its own. */
function triggerWithSpec({ trigger, spec }: ExecutionStart): Json {
  if (spec === undefined || trigger === null || typeof trigger !== 'object' || Array.isArray(trigger)) return trigger;
  return Object.hasOwn(trigger, 'spec') ? trigger : { ...trigger, spec };
}

function waitScope(callbackUrls: Readonly<Record<string, string>>): Record<string, { url: string }> {
  const wait = emptyRecord<{ url: string }>();
  for (const [nodeId, url] of Object.entries(callbackUrls)) wait[nodeId] = { url };
  return wait;
}

/** The first failure that ends this execution; undefined = none. */
export function fatalError(state: State): ExecutionError | undefined {
  for (const node of state.fatal) return nodeFailure(state, node);
  return undefined;
}

export function nodeFailure(state: State, index: number): ExecutionError {
  const { code, message } = state.nodes[index]!.error!;
  return { code, message, nodeId: state.plan.nodes[index]!.id };
}
