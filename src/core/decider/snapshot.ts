// What is kept of an execution's context when it ends (000 §8.4): everything, chosen keys, or a summary of what each node
// left behind. Raw outputs are always with their attempts; this is for people who look at the whole.

import { emptyRecord, type Json } from '../json/json.ts';
import type { State } from './state.ts';

export function contextSnapshot(state: State): Json {
  const { mode, keysToInclude } = state.plan.snapshot;
  switch (mode) {
    case 'Full':
      return { ...state.data };
    case 'KeysOnly': {
      const kept = emptyRecord<Json>();
      for (const key of keysToInclude) {
        const value = state.data[key];
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
    const { status, bytes, dataType } = state.nodes[index]!;
    nodes[id] = dataType === null ? { status } : { status, bytes, type: dataType };
  });
  return nodes;
}
