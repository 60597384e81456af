// The context that is kept when an execution ends: everything, chosen keys, or a summary of each node's data. Raw outputs always
// stay with their attempts; this is for people who look at the whole.

import { emptyRecord, type Json } from '../json/json.ts';
import type { NodeState, State } from './state.ts';

/** The outcome of the compensation is stored beside the nodes, under a name that no node can have. */
export const COMPENSATION_KEY = '$compensation';

export function contextSnapshot(state: State): Json {
  const kept = keptOf(state);
  const { compensation } = state;
  return compensation === null ? kept : { ...(kept as object), [COMPENSATION_KEY]: compensation as unknown as Json };
}

function keptOf(state: State): Json {
  const { mode, keysToInclude } = state.plan.snapshot;
  switch (mode) {
    case 'Full':
      return { ...droppedOf(state), ...state.data };
    case 'KeysOnly': {
      const dropped = droppedOf(state);
      const kept = emptyRecord<Json>();
      for (const key of keysToInclude) {
        const value = state.data[key] ?? dropped[key];
        if (value !== undefined) kept[key] = value;
      }
      return kept;
    }
    case 'SummaryOnly':
      return summary(state);
  }
}

function summary(state: State): Json {
  const nodes = emptyRecord<Json>();
  state.plan.nodes.forEach(({ id }, index) => {
    nodes[id] = metadataOf(state.nodes[index]!);
  });
  return nodes;
}

/** Summaries of outputs that did not fit into the context. */
function droppedOf({ plan, nodes, data }: State): Record<string, Json> {
  const dropped = emptyRecord<Json>();
  if (plan.snapshot.overflowBehavior !== 'DropOversize') return dropped;
  plan.nodes.forEach(({ id }, index) => {
    const node = nodes[index]!;
    if (node.dataType !== null && data[id] === undefined) dropped[id] = metadataOf(node);
  });
  return dropped;
}

function metadataOf({ status, bytes, dataType }: NodeState): Json {
  return dataType === null ? { status } : { status, bytes, type: dataType };
}
