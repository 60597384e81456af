// What the parts of the page share: the execution, its journal, its graph at the fact that is shown, and the chosen node.

import type { GraphJson } from '../../../../src/protocol/execution.ts';
import type { ExecutionDetail } from '../../data/executions.ts';
import type { Journal } from '../../model/journal.ts';

export interface ExecutionView {
  readonly execution: ExecutionDetail;
  readonly journal: Journal;
  /** As it was after `at` facts. */
  readonly graph: GraphJson;
  /** Undefined: the newest. */
  readonly at: number | undefined;
  readonly node: string | undefined;
  readonly attempt: number | undefined;
  readonly select: (node: string | undefined, attempt?: number) => void;
  readonly travel: (at: number | undefined) => void;
}

export type GraphNodeJson = GraphJson['nodes'][number];

const FAILED = new Set(['Failed', 'TimedOut']);

export const failedNodes = ({ graph }: Pick<ExecutionView, 'graph'>): GraphNodeJson[] =>
  graph.nodes.filter(({ status }) => FAILED.has(status));
