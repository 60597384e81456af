// Texts of a picture beside nodes and edges: what undoes what, what runs at the end, and how many edges a node waits for.

import type { Plan } from '../../../src/core/plan/plan.ts';
import type { GraphJson } from '../../../src/protocol/execution.ts';

type GraphNode = GraphJson['nodes'][number];

interface AsideEdge {
  readonly from: string;
  readonly to: string;
  readonly when: 'undo' | 'finally';
  readonly isAside: true;
}

/** No edge leads to the nodes that undo or clean up. Without these they would stand at the beginning. */
export function asideEdges(
  nodes: readonly Pick<GraphNode, 'id' | 'undoes' | 'isFinally'>[],
  edges: readonly { readonly from: string }[],
): AsideEdge[] {
  const sources = new Set(edges.map(({ from }) => from));
  const isAside = ({ undoes, isFinally }: (typeof nodes)[number]) => undoes !== undefined || isFinally === true;
  const lasts = nodes.filter((node) => !isAside(node) && !sources.has(node.id));
  return nodes.flatMap((node): AsideEdge[] => {
    if (node.undoes !== undefined) return [{ from: node.undoes, to: node.id, when: 'undo', isAside: true }];
    if (node.isFinally !== true) return [];
    return lasts.map(({ id }) => ({ from: id, to: node.id, when: 'finally', isAside: true }));
  });
}

/** Of a node that several edges lead to, and that does not wait as most do. */
export function joinText({ nodes, edges }: Plan, nodeId: string): string | undefined {
  const index = nodes.findIndex(({ id }) => id === nodeId);
  const join = nodes[index]?.join;
  const count = edges.filter(({ to }) => to === index).length;
  if (join === undefined || count < 2) return undefined;
  if (typeof join === 'object') return `needs the first ${join.first} of ${count}`;
  return join === 'all' ? `needs all ${count}` : undefined;
}
