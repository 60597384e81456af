// What must become of a workflow, computed from its script alone and without the engine: the ledger that belongs to a generated
// case. Naive on purpose. Where the order of events decides (fail fast among parallel branches), only the end of the execution is
// expected.

import type { NodeSpec, WorkflowSpec } from './workflow.ts';

type NodeEnd = 'Succeeded' | 'Failed' | 'TimedOut' | 'Skipped';

export interface Expectation {
  readonly status: 'Succeeded' | 'Failed' | 'TimedOut';
  /** How each node ends; null = not certain. */
  readonly nodes: ReadonlyMap<string, NodeEnd> | null;
  /** The execution ends in the dead letters. */
  readonly isPoison: boolean;
}

export function expectationOf(workflow: WorkflowSpec): Expectation {
  if (workflow.language !== undefined) return { status: workflow.language.status, nodes: null, isPoison: false };
  if (workflow.timeoutMs !== null) return { status: 'TimedOut', nodes: null, isPoison: false };
  const ends = new Map<string, NodeEnd>();
  let isFatal = false;
  let isPoison = false;
  for (const node of workflow.nodes) {
    const end = isAdmitted(workflow, node, ends) ? endOf(node) : 'Skipped';
    ends.set(node.id, end);
    if (end === 'Skipped') continue;
    isPoison ||= node.outcomes.some((outcome) => outcome === 'crash' || outcome === 'badData');
    isFatal ||= end !== 'Succeeded' && !isHandled(workflow, node);
  }
  if (isPoison) return { status: 'Failed', nodes: null, isPoison };
  return isFatal ? { status: 'Failed', nodes: null, isPoison } : { status: 'Succeeded', nodes: ends, isPoison };
}

function isAdmitted({ format }: WorkflowSpec, { needs }: NodeSpec, ends: ReadonlyMap<string, NodeEnd>): boolean {
  if (needs.length === 0) return true;
  const satisfied = needs.filter(({ id, when }) => {
    const end = ends.get(id)!;
    if (end === 'Skipped') return false;
    return when === 'always' || (when === 'success') === (end === 'Succeeded');
  });
  return format === 'graph' ? satisfied.length > 0 : satisfied.length === needs.length;
}

function isHandled({ format, nodes }: WorkflowSpec, { id }: NodeSpec): boolean {
  if (format === 'pipeline') return true;
  return nodes.some(({ needs }) => needs.some((need) => need.id === id && need.when !== 'success'));
}

function endOf(node: NodeSpec): NodeEnd {
  if (node.kind === 'child') return expectationOf(node.child!).status === 'Succeeded' ? 'Succeeded' : 'Failed';
  if (node.kind !== 'action') return 'Succeeded';
  return actionEnd(node);
}

function actionEnd(node: NodeSpec): NodeEnd {
  const last = attemptsOf(node).at(-1)!;
  return last === 'ok' ? 'Succeeded' : last === 'timeout' ? 'TimedOut' : 'Failed';
}

/** The outcomes of an action's attempts, up to the attempt that settles the node. */
export function attemptsOf({ outcomes, maxAttempts }: NodeSpec): string[] {
  const attempts: string[] = [];
  while (attempts.length < maxAttempts) {
    const outcome = outcomes[attempts.length] ?? 'ok';
    attempts.push(outcome);
    if (outcome === 'ok' || outcome === 'terminal') break;
  }
  return attempts;
}
