// The state of an execution, node by node: its stored journal, folded again. The same code runs and shows executions, so people
// see what the engine believes (I15).

import { FairGate } from '../clock/fair-gate.ts';
import type { State } from '../core/decider/state.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import { foldStored } from '../engine/turn/journal.ts';
import type { ExecutionReader, ExecutionView } from '../store/reader-port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';

export interface Inspection {
  readonly view: ExecutionView;
  /** Ended attempts. */
  readonly attempts: Awaited<ReturnType<ExecutionReader['executionAttempts']>>;
  readonly state: State;
  /** Outputs of each node's last attempt, by node id. */
  readonly outputs: ReadonlyMap<string, Json>;
}

const PAGE = 1_000;

/** The bytes that one process reads whole at a time: parameters and outputs as text. */
export const LARGE_READ_BYTES = 64 * 1024 * 1024;
const MOST_BYTES = 2 * LARGE_READ_BYTES;

/**
 * Reads that bring a whole execution into memory. They share a budget, and tenants take turns (I21, I22): a large execution
 * is read alone, and one larger than the budget is refused.
 */
export class LargeReads {
  private readonly store: Pick<ExecutionReader, 'executionWeight'>;
  private readonly gate = new FairGate(LARGE_READ_BYTES);

  constructor(store: Pick<ExecutionReader, 'executionWeight'>) {
    this.store = store;
  }

  /** `most`: the read stops there by itself. */
  async within<Result>(
    { tenantId, executionId }: { readonly tenantId: string; readonly executionId: string },
    work: () => Promise<Result>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<Result> {
    const bytes = Math.min(most, await this.store.executionWeight({ executionId }));
    if (bytes > MOST_BYTES) throw new PawlError('ANSWER_TOO_LARGE', tooLarge(executionId, bytes));
    return this.gate.pass(tenantId, bytes, work);
  }
}

const tooLarge = (executionId: string, bytes: number): string =>
  `execution ${executionId} holds ${Math.round(bytes / 1024 / 1024)} MiB of parameters and outputs, too much for one answer: read its attempts in pages (?include=actions&limit=…&offset=…)`;

export async function inspectExecution(
  store: ExecutionReader,
  plans: PlanSource,
  params: { tenantId: string; executionId: string },
): Promise<Inspection | null> {
  const view = await store.executionGet(params);
  if (view === null) return null;
  const found = await plans.plan(view);
  if (found === null || 'problem' in found) return null;
  const { executionId } = params;
  const journal = [];
  for (let afterSeq = -1; ; ) {
    const page = await store.executionJournal({ executionId, afterSeq, limit: PAGE });
    journal.push(...page);
    if (page.length < PAGE) break;
    afterSeq = page[page.length - 1]!.seq;
  }
  const attempts = await store.executionAttempts({ executionId });
  const start = {
    ...view,
    trigger: JSON.parse(view.trigger) as Json,
    spec: view.spec === null ? null : (JSON.parse(view.spec) as Json),
    principal: JSON.parse(view.principal) as Json,
    callbackUrls: {},
  };
  const state = foldStored(
    found.plan,
    start,
    { ...view, checkpoint: null, journal, attempts, inbox: [] },
    view.outputs,
  );
  const outputs = new Map<string, Json>();
  for (const { nodeId, outputs: text } of attempts) {
    if (text !== null) outputs.set(nodeId, JSON.parse(text) as Json);
  }
  return { view, attempts, state, outputs };
}
