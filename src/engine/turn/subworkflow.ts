// A child execution: which version it runs, and whether it may be started at all (000 §9.5: depth, recursion). It is
// inserted by the same commit that records its parent's NodeStarted, under the id in that fact, so a crash leaves either
// both or neither.

import type { Command } from '../../core/decider/command.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { NewExecution, WorkflowStore } from '../../store/port.ts';
import type { ExecutionReader } from '../../store/reader-port.ts';
import { triggerFor } from '../../store/workflow-start.ts';
import type { EngineOptions } from '../environment.ts';
import type { TriggerCheck } from '../start/trigger-check.ts';
import { type Tracing, traceparentFor } from '../tracing-port.ts';
import type { QueuedInput, Resident } from './resident.ts';

type StartChild = Extract<Command, { type: 'startChild' }>;

type ChildStart =
  | { readonly ok: true; readonly child: NewExecution }
  | { readonly ok: false; readonly error: { code: string; message: string } };

interface SubworkflowDeps {
  readonly store: WorkflowStore & ExecutionReader;
  readonly options: Pick<EngineOptions, 'maxNestingDepth' | 'allowRecursion'>;
  readonly tracing?: Tracing | undefined;
  /** Throws TRIGGER_INVALID; absent: any payload will do. */
  readonly checkTrigger?: TriggerCheck['check'] | undefined;
}

/** Children to insert, and what the nodes hear whose child may not be started. */
export async function prepareChildren(
  deps: SubworkflowDeps,
  parent: Resident,
  starts: readonly StartChild[],
  now: number,
): Promise<{ children: NewExecution[]; refusals: QueuedInput[] }> {
  const children: NewExecution[] = [];
  const refusals: QueuedInput[] = [];
  for (const command of starts) {
    const { node, attempt } = command;
    const prepared = await prepareChild(deps, parent, command, now);
    if (prepared.ok) children.push(prepared.child);
    else refusals.push({ input: { type: 'attemptFailed', node, attempt, error: prepared.error, retryable: false } });
  }
  return { children, refusals };
}

async function prepareChild(
  { store, options, tracing, checkTrigger }: SubworkflowDeps,
  parent: Resident,
  command: StartChild,
  now: number,
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
  if (!options.allowRecursion) {
    const chain = await ancestry(store, parent);
    if (chain.includes(workflowId)) {
      return refuse(
        'RECURSION',
        `subworkflow "${workflowId}" is already running above: ${[...chain.reverse(), workflowId].join(' → ')}`,
      );
    }
  }
  const workflow = await store.workflowGet({ tenantId: execution.tenantId, workflowId });
  const version = command.version ?? workflow?.currentVersion ?? null;
  if (workflow === null || version === null)
    return refuse('WORKFLOW_NOT_FOUND', `no published workflow "${workflowId}"`);
  if (workflow.status !== 'Active')
    return refuse('WORKFLOW_NOT_ACTIVE', `workflow "${workflowId}" is ${workflow.status}`);
  if (!workflow.isEnabled) return refuse('WORKFLOW_DISABLED', `workflow "${workflowId}" is disabled`);
  const definition = await store.definitionGet({ tenantId: execution.tenantId, workflowId, version });
  if (definition === null) return refuse('WORKFLOW_NOT_FOUND', `workflow "${workflowId}" has no version ${version}`);
  const trigger = triggerFor(definition.format, command.trigger);
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
    format: definition.format,
    priority: execution.priority,
    trigger: triggerText,
    spec: null,
    principal: execution.principal,
    correlationId: execution.correlationId,
    requestId: `child:${command.childId}`,
    parentId: execution.executionId,
    parentNode: state.plan.nodes[command.node]!.id,
    depth,
    projectId: execution.projectId,
    environmentId: execution.environmentId,
    createdAt: now,
    traceparent: traceparentFor(tracing, parent, command.node),
  };
  return { ok: true, child };
}

function refuse(code: string, message: string): ChildStart {
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
