// Follows an execution to its end, wherever it runs: shows its nodes as they go, or prints one object at the end. Ctrl-C
// cancels it, a second one leaves at once. The exit code is the outcome.

import type { Json } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { ExecutionJson, GraphJson } from '../protocol/execution.ts';
import { EXIT, exitCodeOf, SAME_KEYSTROKE_MS } from './exit.ts';
import { createNodeView, failedOf, type NodeView, type Snapshot } from './terminal/node-view.ts';
import { printJson } from './terminal/terminal.ts';

export interface Followed {
  nodes(): Promise<Snapshot['nodes']>;
  /** Resolves when it has ended, however it did. */
  ended(): Promise<unknown>;
  result(): Promise<FinalSnapshot>;
  cancel(reason: string): Promise<unknown>;
}

export interface FinalSnapshot extends Snapshot {
  /** Of the last attempt of each node that has any, by node id. */
  readonly outputs: ReadonlyMap<string, Json>;
}

export interface FollowOptions {
  readonly asJson: boolean;
  /** At the end; not when it was printed before, or cannot be looked up by it. */
  readonly printsId: boolean;
  /** What becomes of it when Ctrl-C is pressed a second time. */
  readonly otherwise: string;
  /** Of the definitions that were published for it. */
  readonly warnings?: readonly Problem[];
  /** A node that failed makes the exit code 1, also when the execution has succeeded. */
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
  // Whatever goes wrong is thrown below; when looking fails first, this must not end the process on its own.
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
