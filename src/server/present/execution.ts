// Executions as the API shows them: absent rather than null, times as ISO text, stored JSON as JSON.

import { framesOf } from '../../core/decider/frame.ts';
import { COMPENSATION_KEY } from '../../core/decider/snapshot.ts';
import type { State } from '../../core/decider/state.ts';
import { isJsonObject, weightOf } from '../../core/json/json.ts';
import { actionTypeOf } from '../../core/plan/action-type.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { ExecutionEvent } from '../../execution/execution-event.ts';
import type { NodeDetail } from '../../execution/execution-journals.ts';
import type { ExecutionRow } from '../../execution/execution-lists.ts';
import type { AttemptView } from '../../execution/execution-queries.ts';
import type { Inspection } from '../../execution/inspection.ts';
import type { LoopItem } from '../../execution/loop-items.ts';
import { parseRef } from '../../protocol/driver.ts';
import type { AttemptJson, EventJson, ExecutionJson, GraphJson, HierarchyJson, Why } from '../../protocol/execution.ts';
import type { ExecutionRowJson } from '../../protocol/execution-list.ts';
import type { ItemJson, NodeDetailJson } from '../../protocol/journal.ts';
import { asideOf, waitText } from '../../protocol/step-text.ts';
import type { ExecutionStanding, ExecutionView, LinkView, TreeRow } from '../../store/reader-port.ts';
import { isoTime, parsed, present } from './field.ts';

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
    driver: view.driver ?? 'native',
    engineRunRef: view.engineRunRef === null ? undefined : parseRef(view.engineRunRef),
    createdAt: isoTime(view.createdAt),
    startedAt: isoTime(view.startedAt),
    completedAt: isoTime(view.endedAt),
    error: parsed(view.error) as ExecutionJson['error'],
    outputs: parsed(view.outputs),
    ...snapshotOf(view),
    why: view.why ?? undefined,
  });
}

export function presentRow(row: ExecutionRow): ExecutionRowJson {
  const { standing } = row;
  const error = parsed(row.error) as ExecutionJson['error'];
  const last =
    standing?.last != null
      ? { nodeId: standing.last.nodeId, code: codeOf(standing.last.error), attempt: standing.last.attempt }
      : error?.nodeId === undefined || row.attempts === null
        ? undefined
        : { nodeId: error.nodeId, code: error.code, attempt: row.attempts };
  return present<ExecutionRowJson>({
    executionId: row.executionId,
    workflowId: row.workflowId,
    version: shownVersion(row.version),
    format: row.format as ExecutionJson['format'],
    status: row.status as ExecutionJson['status'],
    tenantId: row.tenantId,
    principal: parsed(row.principal),
    priority: row.priority,
    correlationId: row.correlationId,
    requestId: row.requestId ?? undefined,
    parentExecutionId: row.parentId ?? undefined,
    projectId: row.projectId,
    environmentId: row.environmentId,
    driver: row.driver ?? 'native',
    engineRunRef: row.engineRunRef === null ? undefined : parseRef(row.engineRunRef),
    createdAt: isoTime(row.createdAt),
    startedAt: isoTime(row.startedAt),
    completedAt: isoTime(row.endedAt),
    error: error && { ...error, message: error.message.slice(0, ROW_MESSAGE_LENGTH) },
    why: row.why ?? undefined,
    dueAt: isoTime(standing?.dueAt ?? null),
    owner: standing?.owner ?? undefined,
    taskQueues: shownQueues(standing),
    last,
    failedNodes: row.failedNodes ?? undefined,
    nodes: row.nodes,
  });
}

/** The reason why a live execution waits. */
export const presentStanding = (standing: ExecutionStanding | null) =>
  standing === null
    ? {}
    : present<{ why?: Why; dueAt?: string; owner?: string; taskQueues?: string[] }>({
        why: standing.why,
        dueAt: isoTime(standing.dueAt),
        owner: standing.owner ?? undefined,
        taskQueues: shownQueues(standing),
      });

const shownQueues = (standing: ExecutionStanding | null): string[] | undefined =>
  standing === null || standing.taskQueues.length === 0 ? undefined : standing.taskQueues;

const ROW_MESSAGE_LENGTH = 500;

const codeOf = (error: string): string => (JSON.parse(error) as { code: string }).code;

export function presentItem({ index, isSingle, nodes }: LoopItem): ItemJson {
  const shown = nodes.map(({ nodeId, attempt: { status, attempt, outputs, error, startedAt, endedAt } }) =>
    present<NonNullable<ItemJson['nodes']>[number]>({
      nodeId,
      status,
      attempt,
      outputs: parsed(outputs),
      error: parsed(error) as ExecutionJson['error'],
      startedAt: isoTime(startedAt),
      completedAt: isoTime(endedAt),
    }),
  );
  if (!isSingle) return { index, nodes: shown };
  const { nodeId: _nodeId, ...only } = shown[0]!;
  return { index, ...only };
}

export function presentNode({ nodeId, type, node, attempts, hasEarlier }: NodeDetail): NodeDetailJson {
  return present<NodeDetailJson>({
    nodeId,
    type,
    status: node.status,
    reason: node.reason ?? undefined,
    until: isoTime(node.until),
    childExecutionId: node.childId ?? undefined,
    attempts: fitting(attempts).map(({ isCut, ...attempt }) =>
      present<NodeDetailJson['attempts'][number]>({
        attempt: attempt.attempt,
        status: attempt.status,
        parameters: isCut ? undefined : attempt.parameters,
        outputs: isCut ? undefined : parsed(attempt.outputs),
        truncated: isCut ? true : undefined,
        error: parsed(attempt.error) as ExecutionJson['error'],
        startedAt: isoTime(attempt.startedAt),
        completedAt: isoTime(attempt.endedAt),
        waitedMs: attempt.waitedMs ?? undefined,
        logs: attempt.logs.map(({ at, level, message, data }) => ({
          at: isoTime(at)!,
          level,
          message,
          ...(data === null ? {} : { data: JSON.parse(data) as unknown }),
        })),
      }),
    ),
    hasEarlier,
  });
}

/** The newest attempt whole, and those before it while there is room. */
function fitting(attempts: NodeDetail['attempts']) {
  let left = MAX_PAYLOAD_BYTES;
  const newestFirst = attempts.toReversed().map((attempt, index) => {
    left -= weightOf(attempt.parameters ?? null, left) + (attempt.outputs?.length ?? 0);
    return { ...attempt, isCut: index > 0 && left < 0 };
  });
  return newestFirst.reverse();
}

/** The limit of parameters and outputs in one answer. Further attempts are shown without them and say so; each has its own address. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

export function presentAttempts(attempts: readonly AttemptView[]): AttemptJson[] {
  let left = MAX_PAYLOAD_BYTES;
  return attempts.map((attempt) => {
    const { parameters = null, outputs = null } = attempt;
    left -= weightOf(parameters, left) + weightOf(outputs, left);
    if (left >= 0 && attempt.isCut !== true) return presentAttempt(attempt);
    return { ...presentAttempt({ ...attempt, parameters: undefined, outputs: undefined }), truncated: true };
  });
}

function presentAttempt(attempt: AttemptView): AttemptJson {
  return present<AttemptJson>({
    nodeId: attempt.nodeId,
    actionType: attempt.actionType,
    attempt: attempt.attempt,
    retryCount: Math.max(0, attempt.attempt - 1),
    // For a node it is a status of its own, for an attempt a failure with the code ATTEMPT_TIMEOUT.
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

export const presentLink = <Link extends LinkView>({ url, ...link }: Link) => (url === null ? link : { ...link, url });

export function presentGraph({ view, state }: Pick<Inspection, 'view' | 'state'>): GraphJson {
  const { plan } = state;
  const nameOf = (node: number) => plan.nodes[node]!.id;
  const asides = asideOf(plan);
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
        items: step.kind === 'forEach' ? itemsOf(state, index) : undefined,
        rounds: step.kind === 'repeat' ? roundsOf(state, index) : undefined,
        waits: node.status === 'Waiting' ? waitText(step) : undefined,
        undoes: asides.get(index)?.undoes,
        isFinally: asides.get(index)?.isFinally,
      });
    }),
    edges: plan.edges.map(({ from, to, when, condition }, index) =>
      present<GraphJson['edges'][number]>({
        from: nameOf(from),
        to: nameOf(to),
        when,
        condition: condition?.source,
        // An edge that was still undecided when the execution ended was not taken.
        state: view.endedAt !== null && state.edges[index] === 'pending' ? 'unsatisfied' : state.edges[index]!,
      }),
    ),
  };
}

/** While it runs, the loop knows; afterwards its outputs do. */
function itemsOf(state: State, index: number): GraphJson['nodes'][number]['items'] {
  const { loop } = state.nodes[index]!;
  const ended = state.data[state.plan.nodes[index]!.id] as
    | { count?: number; succeeded?: number; failed?: number }
    | undefined;
  const { count = 0, succeeded = 0, failed = 0 } = loop ?? ended ?? {};
  return { count, succeeded, failed, running: [...framesOf(state, index)].map(({ item }) => item) };
}

function roundsOf(state: State, index: number): number {
  const { loop } = state.nodes[index]!;
  const ended = state.data[state.plan.nodes[index]!.id] as { rounds?: number } | undefined;
  return loop?.next ?? ended?.rounds ?? 0;
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

/** The outcome of compensation is stored with the snapshot and shown beside it. */
function snapshotOf({ contextSnapshot }: ExecutionView): Pick<ExecutionJson, 'contextSnapshot' | 'compensation'> {
  const kept = parsed(contextSnapshot);
  if (!isJsonObject(kept) || kept[COMPENSATION_KEY] === undefined) return { contextSnapshot: kept };
  const { [COMPENSATION_KEY]: compensation, ...snapshot } = kept;
  return { contextSnapshot: snapshot, compensation: compensation as ExecutionJson['compensation'] };
}
