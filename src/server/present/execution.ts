// Executions as the API shows them: absent rather than null, times as ISO text, stored JSON as JSON.

import type { Json } from '../../core/json/json.ts';
import { actionTypeOf } from '../../core/plan/action-type.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { ExecutionEvent } from '../../engine/execution/execution-event.ts';
import type { AttemptView } from '../../engine/execution/execution-queries.ts';
import type { Inspection } from '../../engine/execution/inspection.ts';
import type { AttemptJson, EventJson, ExecutionJson, GraphJson, HierarchyJson, Why } from '../../protocol/execution.ts';
import type { ExecutionView, LinkView, TreeRow } from '../../store/reader-port.ts';

export const NATIVE_DRIVER = 'native';

export function presentExecution(view: ExecutionView & { why?: Why | null }): ExecutionJson {
  return present<ExecutionJson>({
    executionId: view.executionId,
    workflowId: view.workflowId,
    version: shownVersion(view.version),
    format: view.format as ExecutionJson['format'],
    status: view.status as ExecutionJson['status'],
    tenantId: view.tenantId,
    trigger: parsed(view.trigger),
    spec: parsed(view.spec),
    principal: parsed(view.principal),
    priority: view.priority,
    correlationId: view.correlationId,
    requestId: view.requestId ?? undefined,
    parentExecutionId: view.parentId ?? undefined,
    projectId: view.projectId,
    environmentId: view.environmentId,
    driver: NATIVE_DRIVER,
    createdAt: isoTime(view.createdAt)!,
    startedAt: isoTime(view.startedAt),
    completedAt: isoTime(view.endedAt),
    error: parsed(view.error) as ExecutionJson['error'],
    outputs: parsed(view.outputs),
    contextSnapshot: parsed(view.contextSnapshot),
    why: view.why ?? undefined,
  });
}

export function presentAttempt(attempt: AttemptView): AttemptJson {
  return present<AttemptJson>({
    nodeId: attempt.nodeId,
    actionType: attempt.actionType,
    attempt: attempt.attempt,
    retryCount: Math.max(0, attempt.attempt - 1),
    // Of a node it is a status of its own, of an attempt a failure with the code ATTEMPT_TIMEOUT.
    status: attempt.status === 'TimedOut' ? 'Failed' : attempt.status,
    reason: attempt.reason ?? undefined,
    parameters: attempt.parameters,
    outputs: attempt.outputs,
    error: attempt.error as AttemptJson['error'],
    startedAt: isoTime(attempt.startedAt),
    completedAt: isoTime(attempt.endedAt),
  });
}

export const presentEvent = ({ at, ...event }: ExecutionEvent): EventJson => ({
  seq: event.seq,
  ts: isoTime(at)!,
  level: event.level,
  category: event.category,
  type: event.type,
  ...(event.nodeId === undefined ? {} : { nodeId: event.nodeId }),
  data: event.data,
});

export const presentLink = ({ url, ...link }: LinkView) => (url === null ? link : { ...link, url });

export function presentGraph({ view, state }: Inspection): GraphJson {
  const { plan } = state;
  const nameOf = (node: number) => plan.nodes[node]!.id;
  return {
    status: view.status,
    nodes: plan.nodes.map(({ id, step }, index) => {
      const node = state.nodes[index]!;
      const isWaiting = node.status === 'Sleeping' || node.status === 'Retrying' || node.status === 'Waiting';
      return present<GraphJson['nodes'][number]>({
        id,
        type: actionTypeOf(step),
        status: node.status,
        attempts: node.attempts,
        reason: node.reason ?? undefined,
        startedAt: isoTime(node.startedAt),
        completedAt: isoTime(node.endedAt),
        error: node.error === null || node.status === 'Succeeded' ? undefined : node.error,
        until: isWaiting ? isoTime(node.until) : undefined,
        childExecutionId: node.childId ?? undefined,
      });
    }),
    edges: plan.edges.map(({ from, to, when, condition }, index) =>
      present<GraphJson['edges'][number]>({
        from: nameOf(from),
        to: nameOf(to),
        when,
        condition: condition?.source,
        // What an execution that has ended left undecided was not taken.
        state: view.endedAt !== null && state.edges[index] === 'pending' ? 'unsatisfied' : state.edges[index]!,
      }),
    ),
  };
}

/** Rows come parents first. */
export function presentHierarchy(rows: readonly TreeRow[]): HierarchyJson {
  const byId = new Map<string, HierarchyJson>();
  for (const [index, { executionId, workflowId, status, parentId, parentNode }] of rows.entries()) {
    const above = index > 0 || parentId === null ? {} : { parentExecutionId: parentId };
    const named = parentNode === null ? {} : { nodeId: parentNode };
    const entry: HierarchyJson = { executionId, workflowId, status, ...above, ...named, children: [] };
    byId.set(executionId, entry);
    if (index > 0) byId.get(parentId ?? '')?.children.push(entry);
  }
  return byId.get(rows[0]!.executionId)!;
}

/** Takes undefined fields out, so that what is absent is absent in every form of the answer. */
export function present<Shape extends object>(fields: { [Key in keyof Shape]: Shape[Key] | undefined }): Shape {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Shape;
}

export const parsed = (text: string | null): Json | undefined =>
  text === null ? undefined : (JSON.parse(text) as Json);

export const isoTime = (time: number | null): string | undefined =>
  time === null ? undefined : new Date(time).toISOString();
