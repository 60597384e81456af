// What `pawl run --json` and `pawl start --wait --json` print: the outcome and every node.

import type { Json } from '../../core/json/json.ts';
import type { ExecutionJson, GraphJson } from '../../protocol/execution.ts';
import type { FinalSnapshot } from '../follow.ts';

type Node = GraphJson['nodes'][number];

export interface RunReport {
  readonly executionId: string;
  readonly status: ExecutionJson['status'];
  readonly error?: ExecutionJson['error'];
  readonly outputs?: unknown;
  readonly nodes: Record<string, Pick<Node, 'status' | 'attempts' | 'reason' | 'error'> & { readonly outputs?: Json }>;
  readonly durationMs: number;
}

export function reportRun({ execution, nodes, outputs }: FinalSnapshot, durationMs: number): RunReport {
  const { executionId, status, error } = execution;
  return {
    executionId,
    status,
    ...(error === undefined ? {} : { error }),
    ...(execution.outputs === undefined ? {} : { outputs: execution.outputs }),
    nodes: Object.fromEntries(nodes.map((node) => [node.id, reportNode(node, outputs.get(node.id))])),
    durationMs,
  };
}

function reportNode({ status, attempts, reason, error }: Node, outputs: Json | undefined): RunReport['nodes'][string] {
  return {
    status,
    attempts,
    ...(reason === undefined ? {} : { reason }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
}
