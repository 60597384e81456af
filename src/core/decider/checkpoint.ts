// A checkpoint is the folded state as JSON: what was true after some transition, so that an old execution can be woken
// without folding its whole journal. Counters, timers and the scope are derived again; parameters stay in the journal.

import type { Json, JsonObject } from '../json/json.ts';
import type { Plan } from '../plan/plan.ts';
import { type ExecutionStart, initialState, isFinal, type NodeState, type State } from './state.ts';
import { pushTimer } from './timer-heap.ts';

/** What a checkpoint keeps as it is. Everything else of a State follows from these, the plan and the start. */
const KEPT = [
  'status',
  'seq',
  'transitionSeq',
  'at',
  'startedAt',
  'deadline',
  'generation',
  'stopping',
  'error',
  'patch',
  'contextBytes',
  'dataCount',
] as const satisfies readonly (keyof State)[];

export function toCheckpoint(state: State): Json {
  const kept: JsonObject = {};
  for (const key of KEPT) kept[key] = state[key] as Json;
  return {
    ...kept,
    ...(state.outputs === undefined ? {} : { outputs: state.outputs }),
    nodes: state.nodes.map(({ params: _params, ...node }) => node as unknown as Json),
    edges: [...state.edges],
    signals: [...state.signals],
    unhandledNodes: [...state.unhandledNodes],
    fatal: [...state.fatal],
    data: { ...state.data },
  };
}

export function fromCheckpoint(plan: Plan, start: ExecutionStart, checkpoint: Json): State {
  const saved = checkpoint as unknown as SavedState;
  const state = initialState(plan, start);
  for (const key of KEPT) Object.assign(state, { [key]: saved[key] });
  state.outputs = saved.outputs;
  saved.edges.forEach((edge, index) => {
    state.edges[index] = edge;
  });
  for (const id of saved.signals) state.signals.add(id);
  for (const node of saved.unhandledNodes) state.unhandledNodes.add(node);
  for (const node of saved.fatal) state.fatal.add(node);
  Object.assign(state.data, saved.data);
  saved.nodes.forEach((node, index) => {
    restoreNode(state, index, { ...node, params: undefined });
  });
  return state;
}

interface SavedState extends Pick<State, (typeof KEPT)[number] | 'outputs' | 'edges' | 'data'> {
  readonly nodes: readonly NodeState[];
  readonly signals: readonly string[];
  readonly unhandledNodes: readonly number[];
  readonly fatal: readonly number[];
}

function restoreNode(state: State, index: number, node: NodeState): void {
  state.nodes[index] = node;
  if (isFinal(node.status)) state.unresolved--;
  else if (node.status !== 'Pending') state.inFlight++;
  if (node.until !== null) pushTimer(state.timers, node.until, index);
}
