// Undo and finally. Before an execution ends as failed, cancelled or timed out, the compensations of all succeeded nodes run one
// after the other, in reverse order of completion. Then, whatever the outcome, the nodes of `finally` run. Only then is the last
// fact written, so a crash in between loses none of them (I13, I15). A failing one does not stop the others.

import type { Json } from '../json/json.ts';
import { DEFAULT_COMPENSATION_MS } from '../plan/plan.ts';
import { type Deciding, emit } from './deciding.ts';
import type { Compensation, EndStatus, ExecutionError } from './fact.ts';
import { idOf, nodeAt } from './frame.ts';
import { loseNode } from './losing.ts';
import { route } from './routing.ts';
import { startNode } from './starting.ts';
import { isFinal, type State } from './state.ts';

export type Ending =
  | { readonly outcome: 'Succeeded'; readonly outputs: Json }
  | { readonly outcome: Exclude<EndStatus, 'Succeeded'>; readonly error: ExecutionError };

/** Ends the execution after its compensations and `finally`. */
export function conclude(deciding: Deciding, ending: Ending): void {
  const { state } = deciding;
  const nodes = state.terminated ? [] : whatToUndo(state, ending.outcome);
  if (nodes.length > 0) return beginUndo(deciding, ending, nodes);
  const skipped = state.terminated && whatToUndo(state, ending.outcome).length > 0;
  finish(deciding, ending, skipped ? { status: 'Terminated', nodes: [] } : undefined);
}

export function beginUndo(deciding: Deciding, ending: Ending, nodes: number[]): void {
  const { state, now } = deciding;
  const { outcome } = ending;
  const until = now + (state.plan.compensationTimeoutMs ?? DEFAULT_COMPENSATION_MS);
  const how = ending.outcome === 'Succeeded' ? { result: ending.outputs } : { error: ending.error };
  emit(deciding, { type: 'ExecutionCompensating', outcome, ...how, nodes, until });
  continueUndo(deciding);
}

function whatToUndo({ completed, plan }: State, outcome: EndStatus): number[] {
  const compensations = completed.map((node) => plan.nodes[node]!.compensate!).reverse();
  return [...(outcome === 'Succeeded' ? [] : compensations), ...(plan.finally ?? [])];
}

/** Starts the next one when the previous one is over, and ends the execution after the last. */
export function continueUndo(deciding: Deciding): void {
  const { state } = deciding;
  for (const index of state.undo!.nodes) {
    if (nodeAt(state, index)!.status === 'Pending') {
      startNode(deciding, index);
      route(deciding);
    }
    if (!isFinal(nodeAt(state, index)!.status)) return;
  }
  endUndo(deciding, null);
}

/** Running nodes are told to stop, and the rest never start. */
export function breakUndo(deciding: Deciding, status: 'TimedOut' | 'Terminated'): void {
  const { state } = deciding;
  const reason = status === 'TimedOut' ? 'the compensation took too long' : 'the execution was terminated';
  for (const index of state.undo!.nodes) {
    const node = state.nodes[index]!;
    if (node.status === 'Pending') emit(deciding, { type: 'NodeSkipped', node: index, reason, stopped: true });
    else if (!isFinal(node.status)) loseNode(deciding, index, reason);
  }
  endUndo(deciding, status);
}

function endUndo(deciding: Deciding, cut: 'TimedOut' | 'Terminated' | null): void {
  const { state } = deciding;
  const { nodes, outcome, error, result } = state.undo!;
  const told = nodes.map((index) => ({ nodeId: idOf(state, index), status: state.nodes[index]!.status }));
  const isFine = told.every(({ status }) => status === 'Succeeded');
  const compensation: Compensation = { status: cut ?? (isFine ? 'Succeeded' : 'Failed'), nodes: told };
  const ending: Ending = outcome === 'Succeeded' ? { outcome, outputs: result! } : { outcome, error: error! };
  finish(deciding, ending, compensation);
}

function finish(deciding: Deciding, ending: Ending, compensation: Compensation | undefined): void {
  const { state } = deciding;
  state.plan.nodes.forEach(({ aside }, index) => {
    if (aside && state.nodes[index]!.status === 'Pending') {
      emit(deciding, { type: 'NodeSkipped', node: index, reason: 'nothing to undo', stopped: true });
    }
  });
  const told = compensation === undefined ? {} : { compensation };
  if (ending.outcome === 'Succeeded') emit(deciding, { type: 'ExecutionSucceeded', outputs: ending.outputs, ...told });
  else emit(deciding, { type: `Execution${ending.outcome}`, error: ending.error, ...told });
}
