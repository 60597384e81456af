// Follows an execution to its end, wherever it runs: shows its nodes live, or prints one object at the end. Ctrl-C cancels the
// execution, a second Ctrl-C leaves at once. The exit code is the outcome.

import type { Json } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { ExecutionJson, GraphJson } from '../protocol/execution.ts';
import { EXIT, exitCodeOf, SAME_KEYSTROKE_MS } from './exit.ts';
import { createNodeView, failedOf, type NodeView, type Snapshot } from './terminal/node-view.ts';
import { printJson } from './terminal/terminal.ts';

export interface Followed {
  nodes(): Promise<Snapshot['nodes']>;
  /** Resolves at the end, with whatever outcome. */
  ended(): Promise<unknown>;
  result(): Promise<FinalSnapshot>;
  cancel(reason: string): Promise<unknown>;
}

export interface FinalSnapshot extends Snapshot {
  /** The outputs of the last attempt, by node id. */
  readonly outputs: ReadonlyMap<string, Json>;
}

export interface FollowOptions {
  readonly asJson: boolean;
  /** Whether the id is printed at the end. Not if it was printed before, or if the execution cannot be looked up. */
  readonly printsId: boolean;
  /** Says what happens to the execution after a second Ctrl-C. */
  readonly otherwise: string;
  /** Warnings about the definitions that were published for it. */
  readonly warnings?: readonly Problem[];
  /** A failed node makes the exit code 1, even if the execution succeeded. */
  readonly failOnTaskFailure?: boolean | undefined;
}

export async function follow(followed: Followed, options: FollowOptions): Promise<number> {
  const { asJson, printsId, otherwise, warnings = [], failOnTaskFailure = false } = options;
  const startedAt = performance.now();
  const view = asJson ? null : createNodeView(process.stdout, { printsId });
  const stopListening = cancelOnInterrupt(followed, otherwise);
  try {
    await (view === null ? followed.ended() : show(view, followed));
    const result = await followed.result();
    const durationMs = Math.round(performance.now() - startedAt);
    if (view === null) printJson({ ...reportRun(result, durationMs), ...(warnings.length === 0 ? {} : { warnings }) });
    else view.end(result, durationMs);
    return exitCodeOf(result.execution.status, failOnTaskFailure ? failedOf(result.nodes) : 0);
  } finally {
    stopListening();
  }
}

async function show(view: NodeView, followed: Followed): Promise<void> {
  let isOver = false;
  const finished = followed.ended().then(() => {
    isOver = true;
  });
  // Errors are thrown below. This rejection must not end the process when looking fails first.
  finished.catch(() => undefined);
  while (!isOver) {
    view.show(await followed.nodes());
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, view.intervalMs))]);
  }
}

function cancelOnInterrupt(followed: Followed, otherwise: string): () => void {
  let askedAt: number | null = null;
  const interrupt = () => {
    if (askedAt !== null && performance.now() - askedAt > SAME_KEYSTROKE_MS) process.exit(EXIT.cancelled);
    if (askedAt !== null) return;
    askedAt = performance.now();
    process.stderr.write(`\npawl: cancelling; press Ctrl-C again to leave at once (the execution then ${otherwise})\n`);
    followed.cancel('interrupted').catch(() => undefined);
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  };
}

type Node = GraphJson['nodes'][number];

/** What `pawl run --json` and `pawl start --wait --json` print. */
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
