// A child execution: its version, and whether it may be started (depth, recursion). The commit that records its parent's
// NodeStarted inserts it, under the id in that fact, so a crash leaves either both or neither.

import type { Command } from '../../core/decider/command.ts';
import { idOf, planNodeOf } from '../../core/decider/frame.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { NewExecution, WorkflowStore } from '../../store/port.ts';
import type { ExecutionReader } from '../../store/reader-port.ts';
import { triggerFor } from '../../workflow/workflow-start.ts';
import type { TurnParts } from './decide-turn.ts';
import type { QueuedInput, Resident } from './resident.ts';
import { traceparentFor } from './tracing-port.ts';

type StartChild = Extract<Command, { type: 'startChild' }>;

type ChildStart =
  | { readonly ok: true; readonly child: NewExecution }
  | { readonly ok: false; readonly error: { code: string; message: string } };

type SubworkflowDeps = Pick<TurnParts, 'store' | 'options' | 'tracing' | 'checkTrigger'>;

/** Children to insert, and the failures of nodes whose child is refused. */
export async function prepareChildren(
  deps: SubworkflowDeps,
  parent: Resident,
  starts: readonly StartChild[],
  now: number,
): Promise<{ children: NewExecution[]; refusals: QueuedInput[] }> {
  const children: NewExecution[] = [];
  const refusals: QueuedInput[] = [];
  // A parent may start hundreds of children of one workflow in one turn, so common data is read once.
  const known = { chain: once(() => ancestry(deps.store, parent)), target: targetsOf(deps.store, parent) };
  for (const command of starts) {
    const { node, attempt } = command;
    const prepared = await prepareChild(deps, parent, command, { now, ...known });
    if (prepared.ok) children.push(prepared.child);
    else refusals.push({ input: { type: 'attemptFailed', node, attempt, error: prepared.error, retryable: false } });
  }
  return { children, refusals };
}

interface Known {
  readonly now: number;
  readonly chain: () => Promise<readonly string[]>;
  readonly target: (workflowId: string, version: number | null) => Promise<Target>;
}

type Target =
  | { readonly ok: true; readonly version: number; readonly format: string }
  | Extract<ChildStart, { ok: false }>;

async function prepareChild(
  { options, tracing, checkTrigger }: SubworkflowDeps,
  parent: Resident,
  command: StartChild,
  { now, chain, target: targetOf }: Known,
): Promise<ChildStart> {
  const { execution, state } = parent;
  const { workflowId } = command;
  const depth = execution.depth + 1;
  if (depth > options.maxNestingDepth) {
    return refuse(
      'NESTING_TOO_DEEP',
      `subworkflow "${workflowId}" would be ${depth} levels deep; at most ${options.maxNestingDepth} are allowed`,
    );
  }
  if (!options.allowRecursion && (await chain()).includes(workflowId)) {
    const path = [...(await chain())].reverse();
    return refuse(
      'RECURSION',
      `subworkflow "${workflowId}" is already running above: ${[...path, workflowId].join(' → ')}`,
    );
  }
  const target = await targetOf(workflowId, command.version ?? null);
  if (!target.ok) return target;
  const { version, format } = target;
  const trigger = triggerFor(format, command.trigger);
  const triggerText = JSON.stringify(trigger);
  try {
    await checkTrigger?.({ tenantId: execution.tenantId, workflowId, version }, trigger, triggerText);
  } catch (error) {
    if (error instanceof PawlError) return refuse(error.code, `subworkflow "${workflowId}": ${error.message}`);
    throw error;
  }
  const child: NewExecution = {
    executionId: command.childId,
    tenantId: execution.tenantId,
    workflowId,
    version,
    format,
    priority: execution.priority,
    trigger: triggerText,
    spec: null,
    principal: execution.principal,
    correlationId: execution.correlationId,
    requestId: `child:${command.childId}`,
    parentId: execution.executionId,
    parentNode: idOf(state, command.node),
    depth,
    projectId: execution.projectId,
    environmentId: execution.environmentId,
    createdAt: now,
    traceparent: traceparentFor(tracing, parent, command.node),
  };
  return { ok: true, child };
}

/** The version that a child of this workflow runs, read once per workflow. */
function targetsOf(store: WorkflowStore, { execution: { tenantId } }: Resident): Known['target'] {
  const asked = new Map<string, Promise<Target>>();
  return (workflowId, version) => {
    const key = JSON.stringify([workflowId, version]);
    const target = asked.get(key) ?? targetOf(store, tenantId, workflowId, version);
    asked.set(key, target);
    return target;
  };
}

async function targetOf(
  store: WorkflowStore,
  tenantId: string,
  workflowId: string,
  wanted: number | null,
): Promise<Target> {
  const target = await store.childTarget({ tenantId, workflowId, version: wanted });
  if (target === null || target.version === null)
    return refuse('WORKFLOW_NOT_FOUND', `no published workflow "${workflowId}"`);
  const { status, isEnabled, version, format } = target;
  if (status !== 'Active') return refuse('WORKFLOW_NOT_ACTIVE', `workflow "${workflowId}" is ${status}`);
  if (!isEnabled) return refuse('WORKFLOW_DISABLED', `workflow "${workflowId}" is disabled`);
  if (format === null) return refuse('WORKFLOW_NOT_FOUND', `workflow "${workflowId}" has no version ${version}`);
  return { ok: true, version, format };
}

function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}

function refuse(code: string, message: string): Extract<ChildStart, { ok: false }> {
  return { ok: false, error: { code, message } };
}

/** Workflow ids from this execution up to the root. */
async function ancestry(store: ExecutionReader, parent: Resident): Promise<string[]> {
  const chain = [parent.execution.workflowId];
  let { parentId } = parent.execution;
  while (parentId !== null) {
    const view = await store.executionGet({ tenantId: parent.execution.tenantId, executionId: parentId });
    if (view === null) break;
    chain.push(view.workflowId);
    parentId = view.parentId;
  }
  return chain;
}

/**
 * After a crash it is unknown whether the children were inserted. The same id and request make a repetition harmless. Returns
 * the ids of those that exist now.
 */
export async function startAgain(
  deps: SubworkflowDeps,
  parent: Resident,
  starts: readonly StartChild[],
  { now, driver }: { readonly now: number; readonly driver?: NewExecution['driver'] },
): Promise<ReadonlySet<string>> {
  const { store } = deps;
  const known = new Set(await store.executionKnown({ executionIds: starts.map(({ childId }) => childId) }));
  const missing = starts.filter(({ childId }) => !known.has(childId));
  const { children, refusals } = await prepareChildren(deps, parent, missing, now);
  const items = driver === undefined ? children : children.map((child) => ({ ...child, driver }));
  if (items.length > 0) await store.executionStart({ items });
  for (const { executionId } of children) known.add(executionId);
  for (const command of starts) if (known.has(command.childId)) childStarted(parent, command);
  parent.queue.push(...refusals);
  return known;
}

/** A node that does not wait for its child is done when the child is durable. */
export function childStarted(parent: Resident, { node, attempt, childId }: StartChild): void {
  const { step } = planNodeOf(parent.state, node);
  if (step.kind !== 'subworkflow' || step.waitForCompletion) return;
  const outputs = { executionId: childId, status: 'Pending' };
  const bytes = JSON.stringify(outputs).length;
  parent.queue.push({ input: { type: 'attemptSucceeded', node, attempt, outputs, bytes } });
}
