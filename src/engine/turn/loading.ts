// Turns stored rows into an execution that can go on: compiled plan, folded state, the parameters of running and retrying
// attempts, and the waiting inputs. A failure is returned, not thrown: it must not affect other executions (I20).

import { allNodes, idOf } from '../../core/decider/frame.ts';
import type { Input } from '../../core/decider/input.ts';
import { heeds } from '../../core/decider/signal.ts';
import { type ExecutionStart, initialState, isTerminal, type NodeState, type State } from '../../core/decider/state.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ExecutionStore, LoadedExecution } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { PlanSource } from '../../workflow/plan-cache.ts';
import { foldStored } from './journal.ts';
import { queuedMail } from './mail.ts';
import { type QueuedInput, Resident } from './resident.ts';

export type Loaded =
  | { readonly ok: true; readonly resident: Resident }
  | { readonly ok: false; readonly code: string; readonly problem: string };

export interface LoadingDeps {
  readonly store: ExecutionStore;
  readonly plans: PlanSource;
  readonly callbackUrl: (executionId: string, nodeId: string) => string;
}

type Claim = Pick<Resident, 'crashes' | 'epoch'>;

export interface Loading {
  readonly execution: LoadedExecution;
  readonly claim: Claim;
}

export async function loadResident(deps: LoadingDeps, execution: LoadedExecution, claim: Claim): Promise<Loaded> {
  const folded = await fold(deps, { execution, claim });
  if (!('state' in folded)) return folded;
  const [given] = await restoreParameters(deps.store, [folded.state]);
  return { ok: true, resident: residentOf({ item: { execution, claim }, ...folded }, given!) };
}

/**
 * Loads a whole claim, in order. Plans are looked up in parallel, and recorded parameters read by few statements. `hasRoom`:
 * whether an execution may take this many more bytes, asked when all before it have been taken over. null: no room now.
 */
export async function* loadResidents<Item extends Loading>(
  deps: LoadingDeps,
  items: readonly Item[],
  { atOnce, hasRoom }: { atOnce: number; hasRoom: (item: Item, bytes: number) => boolean },
): AsyncGenerator<{ readonly item: Item; readonly loaded: Loaded | null }> {
  const folded = await Promise.all(items.map(async (item) => ({ item, ...(await fold(deps, item)) })));
  const bytesOf = (one: (typeof folded)[number]) => ('state' in one ? recordedBytes(one.state) : 0);
  for (const group of inGroups(folded, atOnce, bytesOf)) {
    const states = group.flatMap((one) => ('state' in one && hasRoom(one.item, bytesOf(one)) ? [one.state] : []));
    const given = await restoreParameters(deps.store, states);
    const givenTo = new Map(states.map((state, place) => [state, given[place]!]));
    for (const one of group) {
      const found = 'state' in one ? givenTo.get(one.state) : undefined;
      if (!('state' in one)) yield { item: one.item, loaded: one };
      else if (found === undefined) yield { item: one.item, loaded: null };
      else yield { item: one.item, loaded: { ok: true, resident: residentOf(one, found) } };
    }
  }
}

function residentOf(
  { item, state, isArchived }: Folded & { item: Loading },
  given: ReadonlyMap<number, Json>,
): Resident {
  const { execution, claim } = item;
  return new Resident({ execution, state, claim, waiting: waitingInputs(execution, state, isArchived), given });
}

/** The maximum number of bytes in a group, unless it has a single item. */
export function inGroups<Item>(items: readonly Item[], atMost: number, bytesOf: (item: Item) => number): Item[][] {
  const groups: Item[][] = [];
  let left = 0;
  for (const item of items) {
    const bytes = bytesOf(item);
    if (groups.length === 0 || bytes > left) {
      groups.push([]);
      left = atMost;
    }
    groups.at(-1)!.push(item);
    left -= bytes;
  }
  return groups;
}

/** The maximum number of parameter bytes that it reads. */
const recordedBytes = (state: State): number => (recordedAt(state).length === 0 ? 0 : state.renderedBytes);

interface Folded {
  readonly state: State;
  readonly isArchived: boolean;
}

type Broken = Extract<Loaded, { ok: false }>;

async function fold(deps: LoadingDeps, { execution }: Loading): Promise<Folded | Broken> {
  try {
    const found = await deps.plans.plan(execution);
    if (found === null) {
      const problem = `workflow "${execution.workflowId}" has no version ${execution.version}`;
      return { ok: false, code: 'WORKFLOW_NOT_FOUND', problem };
    }
    if ('problem' in found) return { ok: false, code: 'PLAN_INVALID', problem: found.problem };
    const { plan, isArchived } = found;
    return { state: foldStored(plan, startOf(deps, execution, plan), execution), isArchived };
  } catch (error) {
    // An unreachable database says nothing about the execution: it is loaded again later.
    if (error instanceof StoreError && error.failure !== 'data') throw error;
    return { ok: false, code: 'POISON', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The same without waiting, for a fresh execution with a cached plan. null: it must be loaded. */
export function freshResident(deps: LoadingDeps, execution: LoadedExecution, claim: Claim): Resident | null {
  const found = deps.plans.known(execution);
  if (found === undefined || 'problem' in found) return null;
  const { plan, isArchived } = found;
  try {
    const state = initialState(plan, startOf(deps, execution, plan));
    const waiting = waitingInputs(execution, state, isArchived);
    return new Resident({ execution, state, claim, waiting, given: NOTHING_GIVEN });
  } catch {
    // Loading meets the same problem and reports it.
    return null;
  }
}

const NOTHING_GIVEN: ReadonlyMap<number, Json> = new Map();

function startOf(deps: LoadingDeps, execution: LoadedExecution, plan: Plan): ExecutionStart {
  const callbackUrls: Record<string, string> = {};
  for (const { id, step } of plan.nodes) {
    if (step.kind === 'webhook' || (step.kind === 'wait' && step.callback))
      callbackUrls[id] = deps.callbackUrl(execution.executionId, id);
  }
  const { executionId, tenantId, workflowId, version, correlationId } = execution;
  const trigger = JSON.parse(execution.trigger) as Json;
  const principal = JSON.parse(execution.principal) as Json;
  const start = { executionId, tenantId, workflowId, version, correlationId, trigger, principal, callbackUrls };
  return execution.spec === null ? start : { ...start, spec: JSON.parse(execution.spec) as Json };
}

/**
 * Loading a journal skips recorded parameters. Only unfinished attempts need theirs: the first rendering, which a retry may
 * reuse, and the parameters of the running attempt (with patches and overrides). Returns the latter.
 */
export async function restoreParameters(
  store: ExecutionStore,
  states: readonly State[],
): Promise<ReadonlyMap<number, Json>[]> {
  const items = states.flatMap(recordedAt);
  const rows = items.length === 0 ? [] : await store.executionInputs({ items });
  const inputsOf = new Map<string, JsonObject>();
  for (const { executionId, seq, inputs } of rows) {
    inputsOf.set(`${executionId} ${seq}`, JSON.parse(inputs ?? '{}') as JsonObject);
  }
  return states.map((state) => giveBack(state, inputsOf));
}

function recordedAt(state: State): { executionId: string; seq: number }[] {
  const { executionId } = state.start;
  const unfinished = [...allNodes(state)].filter(([, node]) => needsParameters(node));
  const seqs = unfinished.flatMap(([, node]) => [node.renderedSeq, node.startedSeq]);
  return [...new Set(seqs)].filter((seq) => seq >= 0).map((seq) => ({ executionId, seq }));
}

function giveBack(state: State, inputsOf: ReadonlyMap<string, JsonObject>): ReadonlyMap<number, Json> {
  const { executionId } = state.start;
  const given = new Map<number, Json>();
  for (const [index, node] of allNodes(state)) {
    if (!needsParameters(node)) continue;
    const id = idOf(state, index);
    node.params = inputsOf.get(`${executionId} ${node.renderedSeq}`)?.[id];
    const params = inputsOf.get(`${executionId} ${node.startedSeq}`)?.[id];
    if (params !== undefined) given.set(index, params);
  }
  return given.size === 0 ? NOTHING_GIVEN : given;
}

/** Nodes that run or will run again, and loops, whose items stay the same. */
function needsParameters({ status, loop }: NodeState): boolean {
  return loop !== null || status === 'Running' || status === 'Retrying' || status === 'Waiting';
}

/** In the order of decision. */
export function waitingInputs(
  execution: LoadedExecution,
  state: State,
  isArchived: boolean,
  epoch?: number,
): QueuedInput[] {
  const next = nextInput(execution, state, isArchived);
  if (execution.inbox.length === 0 && next !== null) return [{ input: next }];
  const mail = execution.inbox.map((message) => queuedMail(message, state.plan, epoch));
  // An ended execution is live again: because of a signal in its mail, or because its dead letter was requeued.
  const isSignalled = mail.some(({ input }) => input.type === 'signal' && heeds(state, input.signal));
  const first = next === null ? [] : [{ input: next }];
  const cancels = mail.filter(({ input }) => input.type === 'cancel');
  const others = mail.filter(({ input }) => input.type !== 'cancel');
  // Accepted mail counts before timers: a callback was answered 200, and its wait may be over by now (I10).
  if (next?.type === 'timerDue') return [...cancels, ...others, ...first];
  // An execution that was cancelled before it began starts nothing.
  const reopened = next !== null || isSignalled ? [] : [{ input: { type: 'reopened' as const } }];
  return [...cancels, ...first, ...others, ...reopened];
}

/** null: it has ended. */
function nextInput({ workflowId }: LoadedExecution, { status }: State, isArchived: boolean): Input | null {
  if (status !== 'Pending') return isTerminal(status) ? null : { type: 'timerDue' };
  if (!isArchived) return { type: 'started' };
  const error = { code: 'WORKFLOW_NOT_ACTIVE', message: `workflow "${workflowId}" is archived` };
  return { type: 'giveUp', error };
}
