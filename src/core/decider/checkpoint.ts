// A checkpoint is the folded state as JSON after some transition, so that an old execution can be woken without folding its whole
// journal. Counters, timers and the scope are derived again; parameters stay in the journal.

import type { Json, JsonObject } from '../json/json.ts';
import type { Plan } from '../plan/plan.ts';
import { bodyOf } from '../plan/virtual-node.ts';
import { tellStart } from './evolve.ts';
import { type ExecutionStart, type Frame, initialState, isFinal, type NodeState, type State } from './state.ts';
import { pushTimer } from './timer-heap.ts';

/** The fields that a checkpoint stores. The rest of a State is derived from them, the plan and the start. */
const KEPT = [
  'status',
  'seq',
  'transitionSeq',
  'at',
  'startedAt',
  'deadline',
  'generation',
  'stopping',
  'ending',
  'undo',
  'terminated',
  'compensation',
  'error',
  'patch',
  'contextBytes',
  'renderedBytes',
  'dataCount',
] as const satisfies readonly (keyof State)[];

export function toCheckpoint(state: State): Json {
  const kept: JsonObject = {};
  for (const key of KEPT) kept[key] = state[key] as Json;
  return {
    ...kept,
    ...(state.outputs === undefined ? {} : { outputs: state.outputs }),
    nodes: state.nodes.map(withoutParams),
    frames: [...state.frames.values()].map(({ graph: _graph, nodes, ...frame }) => ({
      ...(frame as unknown as JsonObject),
      nodes: nodes.map(withoutParams),
    })),
    edges: [...state.edges],
    signals: [...state.signals],
    unhandledNodes: [...state.unhandledNodes],
    fatal: [...state.fatal],
    completed: [...state.completed],
    data: { ...state.data },
  };
}

const withoutParams = ({ params: _params, ...node }: NodeState): Json => node as unknown as Json;

export function fromCheckpoint(plan: Plan, start: ExecutionStart, checkpoint: Json): State {
  const saved = checkpoint as unknown as SavedState;
  const state = initialState(plan, start);
  for (const key of KEPT) Object.assign(state, { [key]: saved[key] });
  // Missing in checkpoints of earlier versions.
  state.renderedBytes ??= 0;
  tellStart(state);
  state.outputs = saved.outputs;
  saved.edges.forEach((edge, index) => {
    state.edges[index] = edge;
  });
  for (const id of saved.signals) state.signals.add(id);
  for (const node of saved.unhandledNodes) state.unhandledNodes.add(node);
  for (const node of saved.fatal) state.fatal.add(node);
  state.completed.push(...saved.completed);
  Object.assign(state.data, saved.data);
  saved.nodes.forEach((node, index) => {
    state.nodes[index] = restored(state, index, node);
    if (isFinal(node.status) && !plan.nodes[index]!.aside) state.unresolved--;
  });
  for (const frame of saved.frames) {
    const nodes = frame.nodes.map((node, local) => restored(state, frame.base + local, node));
    state.frames.set(frame.base, { ...frame, graph: bodyOf(plan.nodes[frame.owner]!)!, nodes });
  }
  return state;
}

interface SavedState extends Pick<State, (typeof KEPT)[number] | 'outputs' | 'edges' | 'data'> {
  readonly nodes: readonly NodeState[];
  readonly frames: readonly Frame[];
  readonly signals: readonly string[];
  readonly unhandledNodes: readonly number[];
  readonly fatal: readonly number[];
  readonly completed: readonly number[];
}

function restored(state: State, index: number, node: NodeState): NodeState {
  if (!isFinal(node.status) && node.status !== 'Pending') state.inFlight++;
  if (node.until !== null) pushTimer(state.timers, node.until, index);
  return { ...node, arrivals: [...node.arrivals], params: undefined };
}
