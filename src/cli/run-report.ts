// What `pawl run --json` prints: the outcome and every node.

import type { NodeState } from '../core/decider/state.ts';
import type { Json } from '../core/json/json.ts';
import type { Inspection } from '../engine/inspection.ts';

export interface RunReport {
  readonly executionId: string;
  readonly status: string;
  readonly error?: Json;
  readonly outputs?: Json;
  readonly nodes: Record<string, NodeReport>;
  readonly durationMs: number;
}

interface NodeReport {
  readonly status: NodeState['status'];
  readonly attempts: number;
  readonly reason?: string;
  readonly outputs?: Json;
  readonly error?: { readonly code: string; readonly message: string };
}

export function reportRun({ view, state, outputs }: Inspection, durationMs: number): RunReport {
  const nodes: Record<string, NodeReport> = {};
  for (const [index, { id }] of state.plan.nodes.entries()) {
    const { status, attempts, reason, error } = state.nodes[index]!;
    const output = outputs.get(id);
    nodes[id] = {
      status,
      attempts,
      ...(reason === null ? {} : { reason }),
      ...(output === undefined ? {} : { outputs: output }),
      ...(error === null || status === 'Succeeded' ? {} : { error: { code: error.code, message: error.message } }),
    };
  }
  return {
    executionId: view.executionId,
    status: view.status,
    ...(view.error === null ? {} : { error: JSON.parse(view.error) as Json }),
    ...(view.outputs === null ? {} : { outputs: JSON.parse(view.outputs) as Json }),
    nodes,
    durationMs,
  };
}
