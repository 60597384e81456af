// From stored rows to an execution that can go on: compiled plan, folded state, the parameters that running and retrying
// attempts need again, and the inputs that wait for it. What cannot be loaded is said, not thrown: it must not take its
// neighbours with it (I20).

import type { Input } from '../core/decider/input.ts';
import { heeds } from '../core/decider/signal.ts';
import type { ExecutionStart, State } from '../core/decider/state.ts';
import { isTerminal } from '../core/decider/state.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { ExecutionStore, LoadedExecution } from '../store/port.ts';
import { StoreError } from '../store/store-error.ts';
import type { PlanSource } from './environment.ts';
import { foldStored } from './journal.ts';
import { inputOf } from './mail.ts';
import { createResident, type Resident } from './resident.ts';

export type Loaded =
  | { readonly ok: true; readonly resident: Resident }
  | { readonly ok: false; readonly execution: LoadedExecution; readonly code: string; readonly problem: string };

export interface LoadingDeps {
  readonly store: ExecutionStore;
  readonly plans: PlanSource;
  readonly callbackUrl: (executionId: string, nodeId: string) => string;
}

export async function loadResident(
  deps: LoadingDeps,
  execution: LoadedExecution,
  claim: { readonly crashes: number; readonly epoch: number },
): Promise<Loaded> {
  try {
    const found = await deps.plans.plan(execution);
    if (found === null) {
      const problem = `workflow "${execution.workflowId}" has no version ${execution.version}`;
      return { ok: false, execution, code: 'WORKFLOW_NOT_FOUND', problem };
    }
    if ('problem' in found) return { ok: false, execution, code: 'PLAN_INVALID', problem: found.problem };
    const state = foldStored(found.plan, startOf(deps, execution, found.plan), execution);
    // One that was never begun has none, and is not made to wait for them.
    const given = state.seq === 0 ? NOTHING_GIVEN : await restoreParameters(deps.store, state);
    const resident = createResident(execution, state, claim, given);
    queueWhatWaits(resident, found.isArchived);
    return { ok: true, resident };
  } catch (error) {
    // A database that cannot be reached says nothing about the execution: somebody will load it again.
    if (error instanceof StoreError && error.failure !== 'data') throw error;
    return { ok: false, execution, code: 'POISON', problem: error instanceof Error ? error.message : String(error) };
  }
}

const NOTHING_GIVEN: ReadonlyMap<number, Json> = new Map();

function startOf(deps: LoadingDeps, execution: LoadedExecution, plan: Plan): ExecutionStart {
  const callbackUrls: Record<string, string> = {};
  for (const { id, step } of plan.nodes) {
    if (step.kind === 'webhook') callbackUrls[id] = deps.callbackUrl(execution.executionId, id);
  }
  const { executionId, tenantId, workflowId, version, correlationId } = execution;
  return {
    executionId,
    tenantId,
    workflowId,
    version,
    correlationId,
    trigger: JSON.parse(execution.trigger) as Json,
    ...(execution.spec === null ? {} : { spec: JSON.parse(execution.spec) as Json }),
    principal: JSON.parse(execution.principal) as Json,
    callbackUrls,
  };
}

/**
 * Loading a journal skips the recorded parameters; only unfinished attempts need theirs back: what a retry may reuse (as
 * first rendered), and what the attempt that was running was given (with patches and overrides). Returns the latter.
 */
async function restoreParameters(store: ExecutionStore, state: State): Promise<Map<number, Json>> {
  const given = new Map<number, Json>();
  const unfinished = state.nodes.flatMap((node, index) =>
    node.status === 'Running' || node.status === 'Retrying' || node.status === 'Waiting' ? [index] : [],
  );
  const seqs = unfinished.flatMap((index) => [state.nodes[index]!.renderedSeq, state.nodes[index]!.startedSeq]);
  const wanted = [...new Set(seqs)].filter((seq) => seq >= 0);
  if (wanted.length === 0) return given;
  const rows = await store.executionInputs({ executionId: state.start.executionId, seqs: wanted });
  const bySeq = new Map(rows.map((row) => [row.seq, JSON.parse(row.inputs ?? '{}') as JsonObject]));
  for (const index of unfinished) {
    const node = state.nodes[index]!;
    const { id } = state.plan.nodes[index]!;
    node.params = bySeq.get(node.renderedSeq)?.[id];
    const params = bySeq.get(node.startedSeq)?.[id];
    if (params !== undefined) given.set(index, params);
  }
  return given;
}

function queueWhatWaits(resident: Resident, isArchived: boolean): void {
  const { state, execution, queue } = resident;
  const mail = execution.inbox.map((message) => ({ input: inputOf(message), mailId: message.id }));
  for (const { mailId } of mail) resident.seenMail.add(mailId);
  // What was cancelled before it began never starts anything.
  queue.push(...mail.filter(({ input }) => input.type === 'cancel'));
  if (state.status === 'Pending') {
    queue.push({ input: isArchived ? archived(execution) : { type: 'started' } });
  } else if (!isTerminal(state.status)) {
    queue.push({ input: { type: 'timerDue' } });
  }
  queue.push(...mail.filter(({ input }) => input.type !== 'cancel'));
  // It had ended, and is live again: for a signal among its mail, or because its dead letter was put back.
  const isSignalled = mail.some(({ input }) => input.type === 'signal' && heeds(state, input.signal));
  if (isTerminal(state.status) && !isSignalled) queue.push({ input: { type: 'reopened' } });
}

function archived({ workflowId }: LoadedExecution): Input {
  const error = { code: 'WORKFLOW_NOT_ACTIVE', message: `workflow "${workflowId}" is archived` };
  return { type: 'giveUp', error };
}
