// Folds a stored journal without the outputs of its attempts: statuses, edges, attempts and times are the same, and a thousand
// nodes are 41 KB to read. Data that depends on outputs (`data`, the execution's outputs) is missing.

import { applyTransition } from '../core/decider/evolve.ts';
import type { Fact, Transition } from '../core/decider/fact.ts';
import { type ExecutionStart, initialState, type State } from '../core/decider/state.ts';
import type { Json } from '../core/json/json.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { JournalRow, JsonText, Store } from '../store/port.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';

export interface FactFold {
  readonly plan: Plan;
  readonly state: State;
  readonly transitions: readonly Transition[];
}

type Started = Pick<
  ExecutionView,
  'executionId' | 'tenantId' | 'workflowId' | 'version' | 'correlationId' | 'trigger' | 'spec' | 'principal'
>;

const PAGE = 1_000;

/** null: the plan can no longer be loaded. */
export async function foldFacts(
  { store, plans }: { readonly store: Pick<Store, 'executionJournal'>; readonly plans: PlanSource },
  view: Started,
): Promise<FactFold | null> {
  const found = await plans.plan(view);
  if (found === null || 'problem' in found) return null;
  const state = initialState(found.plan, startOf(view));
  const transitions: Transition[] = [];
  for (let afterSeq = -1; ; ) {
    const rows = await store.executionJournal({ executionId: view.executionId, afterSeq, limit: PAGE });
    for (const transition of rows.map(transitionOf)) {
      transitions.push(transition);
      applyTransition(state, transition);
    }
    if (rows.length < PAGE) return { plan: found.plan, state, transitions };
    afterSeq = rows.at(-1)!.seq;
  }
}

export function startOf(view: Started): ExecutionStart {
  const { executionId, tenantId, workflowId, version, correlationId } = view;
  return {
    ...{ executionId, tenantId, workflowId, version, correlationId },
    trigger: read(view.trigger),
    spec: view.spec === null ? null : read(view.spec),
    principal: read(view.principal),
    callbackUrls: {},
  };
}

export const transitionOf = ({ seq, at, facts }: JournalRow): Transition => ({
  seq,
  at,
  facts: JSON.parse(facts) as Fact[],
});

const read = (text: JsonText): Json => JSON.parse(text) as Json;
