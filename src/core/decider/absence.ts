// Explains to the author of an expression why a node left no data: it was skipped or cancelled, or its outputs did not fit into
// the context. Otherwise the message would suggest some other node with a similar name.

import type { WhyMissing } from '../expression/missing.ts';
import type { State } from './state.ts';

export function whyAbsent({ plan, nodes }: State): WhyMissing {
  return (path) => {
    const index = plan.nodes.findIndex(({ id }) => isDataOf(id, path));
    const node = nodes[index];
    if (node?.status === 'Skipped') return `\`${path.at(-1)}\` was skipped (${node.reason})`;
    if (node?.status === 'Cancelled') return `\`${path.at(-1)}\` was cancelled (${node.error!.message})`;
    if (node === undefined || node.dataType === null || node.dataOrder >= 0) return undefined;
    const { maxContextSizeBytes, overflowBehavior } = plan.snapshot;
    return `its ${node.bytes} bytes were left out of the context, which holds at most ${maxContextSizeBytes} (${overflowBehavior})`;
  };
}

/** In the spelling of graphs and plans, and of pipelines. */
function isDataOf(id: string, path: readonly (string | number)[]): boolean {
  return [`context.data.${id}`, `steps.${id}`].includes(path.join('.'));
}
