// Checks the graph as a whole: no cycles, and in a graph workflow every node can be reached from the start. Returns which node
// comes before which, for the checks of expressions; null when the graph is too broken to tell.

import type { Findings } from '../problem/problem.ts';
import type { Draft } from './draft.ts';
import type { Links } from './link.ts';
import { adjacency, type IsUpstream, reachable, upstream, walk } from './topology.ts';
import { WORDING } from './wording.ts';

/** The middle of a longer cycle is left out. */
const MAX_SHOWN = 20;

export function checkShape(draft: Draft, links: Links, findings: Findings): IsUpstream | null {
  const size = draft.nodes.length;
  const { order, cycles } = walk(adjacency(size, links.edges));
  for (const cycle of cycles) reportCycle(cycle, draft, links, findings);

  const probable = adjacency(size, [...links.edges, ...links.guesses, ...links.undo]);
  if (links.start !== null) reportUnreachable(reachable(links.start, probable), draft, links, findings);
  if (links.guesses.length + links.undo.length === 0) return cycles.length === 0 ? upstream(order, probable) : null;
  const guessed = walk(probable);
  return guessed.cycles.length === 0 ? upstream(guessed.order, probable) : null;
}

function reportCycle(cycle: readonly number[], draft: Draft, links: Links, findings: Findings): void {
  const first = cycle[0]!;
  const last = cycle.at(-1)!;
  const closing = links.edges.find((edge) => edge.from === last && edge.to === first)!;
  const names = cycle.map((index) => draft.nodes[index]!.id);
  const { node, breakCycle } = WORDING[draft.format];
  const message = `the ${node}s form a cycle: ${[...abridge(names), names[0]].join(' → ')}`;
  findings.error('CYCLE', closing.draft.other.at, message, breakCycle);
}

function abridge(names: string[]): string[] {
  if (names.length <= MAX_SHOWN) return names;
  const half = MAX_SHOWN / 2;
  return [...names.slice(0, half), `… (${names.length - MAX_SHOWN} more) …`, ...names.slice(-half)];
}

function reportUnreachable(seen: Uint8Array, draft: Draft, links: Links, findings: Findings): void {
  draft.nodes.forEach((node, index) => {
    // No edge can lead to a node without a unique name; that is already reported.
    if (seen[index] === 1 || links.asides.has(index) || links.byName.get(node.id) !== index) return;
    const message = `\`${node.id}\` can never run: no path leads to it from \`${draft.startNode!.value}\``;
    findings.error('UNREACHABLE', node.at, message, 'add an edge to it, or remove it');
  });
}
