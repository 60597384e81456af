// From stored rows to an execution that can go on: compiled plan, folded state, the parameters that running and retrying
// attempts need again, and the inputs that wait for it. What cannot be loaded is said, not thrown: it must not take its
// neighbours with it (I20).

import type { Input } from '../../core/decider/input.ts';
import { heeds } from '../../core/decider/signal.ts';
import { type ExecutionStart, initialState, isTerminal, type State } from '../../core/decider/state.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ExecutionStore, LoadedExecution } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { PlanSource } from '../environment.ts';
import { foldStored } from '../turn/journal.ts';
import { inputOf } from '../turn/mail.ts';
import { createResident, type QueuedInput, type Resident } from '../turn/resident.ts';

export type Loaded =
  | { readonly ok: true; readonly resident: Resident }
  | { readonly ok: false; readonly code: string; readonly problem: string };

export interface LoadingDeps {
  readonly store: ExecutionStore;
  readonly plans: PlanSource;
  readonly callbackUrl: (executionId: string, nodeId: string) => string;
}

type Claim = Pick<Resident, 'crashes' | 'epoch'>;

export async function loadResident(deps: LoadingDeps, execution: LoadedExecution, claim: Claim): Promise<Loaded> {
  try {
    const found = await deps.plans.plan(execution);
    if (found === null) {
      const problem = `workflow "${execution.workflowId}" has no version ${execution.version}`;
      return { ok: false, code: 'WORKFLOW_NOT_FOUND', problem };
    }
    if ('problem' in found) return { ok: false, code: 'PLAN_INVALID', problem: found.problem };
    const state = foldStored(found.plan, startOf(deps, execution, found.plan), execution);
    // One that was never begun has none, and is not made to wait for them.
    const given = state.seq === 0 ? NOTHING_GIVEN : await restoreParameters(deps.store, state);
    const waiting = whatWaits(execution, state, found.isArchived);
    return { ok: true, resident: createResident({ execution, state, claim, waiting, given }) };
  } catch (error) {
    // A database that cannot be reached says nothing about the execution: somebody will load it again.
    if (error instanceof StoreError && error.failure !== 'data') throw error;
    return { ok: false, code: 'POISON', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The same without a wait, for one that was never begun and whose plan is at hand. Null: it has to be loaded. */
export function freshResident(deps: LoadingDeps, execution: LoadedExecution, claim: Claim): Resident | null {
  const found = deps.plans.known(execution);
  if (found === undefined || 'problem' in found) return null;
  const { plan, isArchived } = found;
  try {
    const state = initialState(plan, startOf(deps, execution, plan));
    const waiting = whatWaits(execution, state, isArchived);
    return createResident({ execution, state, claim, waiting, given: NOTHING_GIVEN });
  } catch {
    // Loading meets the same, and says what it is.
    return null;
  }
}

const NOTHING_GIVEN: ReadonlyMap<number, Json> = new Map();

function startOf(deps: LoadingDeps, execution: LoadedExecution, plan: Plan): ExecutionStart {
  const callbackUrls: Record<string, string> = {};
  for (const { id, step } of plan.nodes) {
    if (step.kind === 'webhook') callbackUrls[id] = deps.callbackUrl(execution.executionId, id);
  }
  const { executionId, tenantId, workflowId, version, correlationId } = execution;
  const trigger = JSON.parse(execution.trigger) as Json;
  const principal = JSON.parse(execution.principal) as Json;
  const start = { executionId, tenantId, workflowId, version, correlationId, trigger, principal, callbackUrls };
  return execution.spec === null ? start : { ...start, spec: JSON.parse(execution.spec) as Json };
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

/** In the order in which it is decided on. */
function whatWaits(execution: LoadedExecution, state: State, isArchived: boolean): QueuedInput[] {
  const next = nextInput(execution, state, isArchived);
  if (execution.inbox.length === 0 && next !== null) return [{ input: next }];
  const mail = execution.inbox.map((message) => ({ input: inputOf(message), mailId: message.id }));
  // It had ended, and is live again: for a signal among its mail, or because its dead letter was put back.
  const isSignalled = mail.some(({ input }) => input.type === 'signal' && heeds(state, input.signal));
  const first = next === null ? [] : [{ input: next }];
  const cancels = mail.filter(({ input }) => input.type === 'cancel');
  const others = mail.filter(({ input }) => input.type !== 'cancel');
  // What was accepted counts before what merely became due: a callback was answered 200, and its wait may be over by now (I10).
  if (next?.type === 'timerDue') return [...cancels, ...others, ...first];
  // What was cancelled before it began never starts anything.
  const reopened = next !== null || isSignalled ? [] : [{ input: { type: 'reopened' as const } }];
  return [...cancels, ...first, ...others, ...reopened];
}

/** Null: it has ended. */
function nextInput({ workflowId }: LoadedExecution, { status }: State, isArchived: boolean): Input | null {
  if (status !== 'Pending') return isTerminal(status) ? null : { type: 'timerDue' };
  if (!isArchived) return { type: 'started' };
  const error = { code: 'WORKFLOW_NOT_ACTIVE', message: `workflow "${workflowId}" is archived` };
  return { type: 'giveUp', error };
}
