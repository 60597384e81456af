// Why a node was skipped, by the edges that lead to it: the engine says that none was satisfied, people ask for the cause.

import type { GraphJson } from '../../../src/protocol/execution.ts';

type Edge = GraphJson['edges'][number];

const NO_EDGE = 'no satisfied edge';
const MOST_CAUSES = 2;

/** Undefined: the node was not skipped. */
export function skipReason({ nodes, edges }: GraphJson, nodeId: string): string | undefined {
  const { reason } = nodes.find(({ id }) => id === nodeId) ?? {};
  if (reason !== NO_EDGE) return reason;
  const statuses = new Map(nodes.map(({ id, status }) => [id, status]));
  const leading = edges.filter(({ to }) => to === nodeId);
  const causes = leading.map((edge) => causeOf(edge, statuses.get(edge.from)));
  const told = [...new Set(causes)].slice(0, MOST_CAUSES);
  const more = new Set(causes).size > told.length ? ' …' : '';
  return told.length === 0 ? reason : told.join(', ') + more;
}

function causeOf({ from, when, condition }: Edge, status: string | undefined): string {
  switch (status) {
    case 'Skipped':
      return `${from} was skipped`;
    case 'Cancelled':
      return `${from} was cancelled`;
    case 'Failed':
    case 'TimedOut':
      return when === 'success' ? `${from} failed` : falseAfter(from, condition);
    case 'Succeeded':
      return when === 'failure' ? `${from} did not fail` : falseAfter(from, condition);
    default:
      return `${from} did not lead here`;
  }
}

const falseAfter = (from: string, condition: string | undefined): string =>
  condition === undefined ? `${from} did not lead here` : `the condition after ${from} is false`;
