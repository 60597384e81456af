// How an execution stands, node by node: its stored journal folded once more. The same code that runs executions tells
// what they look like, so what people see cannot differ from what the engine believes (I15).

import type { State } from '../../core/decider/state.ts';
import type { Json } from '../../core/json/json.ts';
import type { ExecutionReader, ExecutionView } from '../../store/reader-port.ts';
import type { PlanSource } from '../environment.ts';
import { foldStored } from '../turn/journal.ts';

export interface Inspection {
  readonly view: ExecutionView;
  /** Attempts that have ended. */
  readonly attempts: Awaited<ReturnType<ExecutionReader['executionAttempts']>>;
  readonly state: State;
  /** Outputs of the last attempt of each node that has any, by node id. */
  readonly outputs: ReadonlyMap<string, Json>;
}

const PAGE = 1_000;

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
