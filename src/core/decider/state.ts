// The folded state of one execution: the sum of its journal. Only evolve.ts changes it. Counters and the timer heap make each
// decision cost O(1) per fact, however large or old the execution is.

import { emptyRecord, type Json, type JsonObject } from '../json/json.ts';
import type { Graph, Plan } from '../plan/plan.ts';
import { shownVersion } from '../plan/shown-version.ts';
import type { Compensation, EndStatus, ExecutionError, NodeError } from './fact.ts';
import { createTimerHeap, type TimerHeap } from './timer-heap.ts';

/** The inputs of an execution: the part of an expression's scope that never changes. */
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

/** The payload of a callback. */
export interface Callback {
  readonly payload: Json;
  /** Only the beginning of the payload was kept. */
  readonly truncated?: true;
}

export const callbackOf = ({ payload, truncated }: Callback): Callback =>
  truncated === true ? { payload, truncated } : { payload };

export interface NodeState {
  status: NodeStatus;
  /** Attempts started so far. Counts on after a reset, so that (node, attempt) stays unique. */
  attempts: number;
  /** Attempts that no longer count against the retry policy: those before the last reset. */
  attemptBase: number;
  pendingEdges: number;
  satisfiedEdges: number;
  startedAt: number | null;
  /** When the first attempt since the last reset began; `startedAt` belongs to the current one. */
  firstStartedAt: number | null;
  endedAt: number | null;
  /** Sequence of the transition that started the current attempt. */
  startedSeq: number;
  /** Sequence of the transition in which the parameters were rendered; -1 = not yet. */
  renderedSeq: number;
  /** Rendered parameters before patches; undefined: not in memory, but in the journal at renderedSeq. */
  params: Json | undefined;
  until: number | null;
  /** For a sleep: its attempt times out at `until`. */
  cut: boolean;
  childId: string | null;
  reason: string | null;
  /** Skipped or cancelled because the execution ended, not by routing. */
  stopped: boolean;
  /** A callback that came before the node waited for it. */
  early: Callback | null;
  /** Only the beginning of a callback's payload was kept. */
  truncated: boolean;
  error: NodeError | null;
  bytes: number;
  /** JSON type of the outputs. */
  dataType: string | null;
  /** Order in which the data arrived, for pruning the oldest first; -1 = not in the context. */
  dataOrder: number;
  patch: JsonObject | null;
  override: JsonObject | null;
  /** For a wait: its arrivals, and whether events find it. */
  readonly arrivals: Arrival[];
  isSubscribed: boolean;
  /** For a running loop: its progress. */
  loop: LoopState | null;
  /** For a loop: the highest attempt of any virtual node. A later run counts on from there. */
  peak: number;
}

export interface Arrival {
  /** `callback`, or the type of the event. */
  readonly by: string;
  readonly data: Json;
  readonly eventId?: string;
}

export interface LoopState {
  /** `peak` when this run began. */
  attemptBase: number;
  count: number;
  /** The next item that has never begun; for a repeat, the next round. */
  next: number;
  /** Items of an earlier run that run again, or will when the loop is retried. */
  again: number[];
  left: number[];
  active: number;
  succeeded: number;
  failed: number;
  results: Json[];
  errors: ItemError[];
  bytes: number;
  /** For a repeat: the result of the last round. */
  last: Json;
  collected: Json[];
}

export interface ItemError {
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

/** One running item or round of a loop; the execution itself is the outermost. See frame.ts. */
export interface Frame {
  /** The number of its first node; 0: the execution itself. */
  readonly base: number;
  /** The loop node; -1: the execution itself. */
  readonly owner: number;
  readonly item: number;
  readonly graph: Graph;
  readonly nodes: NodeState[];
  readonly edges: EdgeState[];
  /** The outputs of its nodes, by id. */
  readonly data: Record<string, Json>;
  /** Nodes that are not final. */
  unresolved: number;
  /** The node whose unhandled failure ends the item. */
  failed: number | null;
}

export interface State {
  readonly plan: Plan;
  readonly start: ExecutionStart;
  status: ExecutionStatus;
  /** Sequence number of the next fact, and of the first fact of the transition that is being folded. */
  seq: number;
  transitionSeq: number;
  /** Time of the last transition. Time never runs backwards within an execution. */
  at: number;
  startedAt: number | null;
  deadline: number | null;
  generation: number;
  stopping: { outcome: EndStatus; error: ExecutionError; graceUntil: number } | null;
  /** The end is decided, and these nodes run before it. */
  undo: {
    outcome: EndStatus;
    error: ExecutionError | undefined;
    result: Json | undefined;
    nodes: readonly number[];
    until: number;
  } | null;
  /** Succeeded nodes with a compensation, in order of completion. */
  readonly completed: number[];
  /** Somebody decided that nothing is undone. */
  terminated: boolean;
  compensation: Compensation | null;
  /** The end node that was reached. Nothing else starts. */
  ending: number | null;
  /** Unhandled failures since the last (re)open. They end the execution: at once, at resume, or when it has drained. */
  readonly fatal: Set<number>;
  /** Nodes with an unhandled failure. The execution cannot succeed while there are any. */
  readonly unhandledNodes: Set<number>;
  error: ExecutionError | null;
  outputs: Json | undefined;
  readonly nodes: NodeState[];
  readonly edges: EdgeState[];
  /** Running items and rounds by the number of their first node, and the execution itself in the same form. */
  readonly frames: Map<number, Frame>;
  readonly root: Frame;
  /** Keys of the signals that were applied or refused: a repeat is a no-op. */
  readonly signals: Set<string>;
  patch: JsonObject | null;
  /** Written nodes not yet in a final status / nodes with something in flight (running, retrying, sleeping, waiting). */
  unresolved: number;
  inFlight: number;
  contextBytes: number;
  /** Total size of the rendered parameters. */
  renderedBytes: number;
  dataCount: number;
  readonly timers: TimerHeap;
  /** The scope of expressions. `data` grows: context.data, tasks or steps, by format. */
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

/** Nothing new starts in a paused, stopping, draining or ended execution. */
export function mayStart(state: State): boolean {
  if (state.undo !== null) return state.status === 'Running';
  return state.status === 'Running' && state.stopping === null && state.fatal.size === 0 && state.ending === null;
}

/** The node has ended, and some of its outgoing edges are unresolved. */
export function hasOpenEdges({ graph, nodes, edges }: Frame, local: number): boolean {
  const { status } = nodes[local]!;
  if (status !== 'Succeeded' && status !== 'Failed' && status !== 'TimedOut') return false;
  return graph.nodes[local]!.outgoing.some((edge) => edges[edge] === 'pending');
}

export function initialState(plan: Plan, start: ExecutionStart): State {
  const data = emptyRecord<Json>();
  const nodes = plan.nodes.map((node) => initialNode(node.incoming.length));
  const edges: EdgeState[] = plan.edges.map(() => 'pending');
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
    undo: null,
    completed: [],
    terminated: false,
    compensation: null,
    ending: null,
    fatal: new Set(),
    unhandledNodes: new Set(),
    error: null,
    outputs: undefined,
    nodes,
    edges,
    frames: new Map(),
    root: { base: 0, owner: -1, item: 0, graph: plan, nodes, edges, data, unresolved: 0, failed: null },
    signals: new Set(),
    patch: null,
    unresolved: plan.nodes.filter(({ aside }) => aside !== true).length,
    inFlight: 0,
    contextBytes: 0,
    renderedBytes: 0,
    dataCount: 0,
    timers: createTimerHeap(),
    data,
    scope: scopeOf(plan, start, data),
  };
}

export function initialNode(pendingEdges: number, attempts = 0): NodeState {
  return {
    status: 'Pending',
    attempts,
    attemptBase: attempts,
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
    arrivals: [],
    isSubscribed: false,
    loop: null,
    peak: 0,
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
          startedAt: null,
        },
        attempt: { number: 0, startedAt: null },
        principal: start.principal,
        wait: waitScope(start.callbackUrls),
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
  const { code, message, cause } = state.nodes[index]!.error!;
  const nodeId = state.plan.nodes[index]!.id;
  return cause === undefined ? { code, message, nodeId } : { code, message, nodeId, cause };
}
