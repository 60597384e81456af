// The content of spans: names, attributes and status. Payloads and parameters are not included (S6). Error messages are, as in
// the journal, with secrets redacted.

import type { AttemptResult, RanAttempt } from '../../action/attempt.ts';
import type { Fact } from '../../core/decider/fact.ts';
import { idOf, nodeAt, planNodeOf } from '../../core/decider/frame.ts';
import { runIdOf } from '../../core/id/id.ts';
import { actionTypeOf } from '../../core/plan/action-type.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { EndedExecution } from '../../engine/environment.ts';
import type { Resident } from '../../engine/turn/resident.ts';
import type { NewExecution } from '../../store/port.ts';
import type { SpanData } from './span-data.ts';

type Content = Pick<SpanData, 'name' | 'attributes' | 'error'>;

export function executionContent({ execution, status, state }: EndedExecution, durationMs: number): Content {
  const error = state?.error;
  return {
    name: `execution ${execution.workflowId}`,
    attributes: {
      ...placeOf(execution, { runId: runIdOf(execution), planVersion: state?.plan.namedVersion }),
      correlationId: execution.correlationId,
      projectId: execution.projectId,
      environmentId: execution.environmentId,
      ...(execution.parentId === null ? {} : { parentRunId: execution.parentId }),
      generation: state?.generation ?? 0,
      status,
      durationMs,
      ...(error == null ? {} : { 'error.type': error.code }),
    },
    error: status === 'Succeeded' ? null : error == null ? status : describe(error),
  };
}

export type NodeEnd = Extract<Fact, { type: 'NodeSucceeded' | 'NodeFailed' | 'NodeTimedOut' | 'NodeCancelled' }>;

export function nodeContent({ execution, state }: Resident, fact: NodeEnd, durationMs: number): Content {
  const { step } = planNodeOf(state, fact.node);
  const id = idOf(state, fact.node);
  const error = 'error' in fact ? fact.error : null;
  return {
    name: `node ${id}`,
    attributes: {
      ...placeOf(execution, { runId: runIdOf(execution), planVersion: state.plan.namedVersion }),
      stepId: id,
      stepType: actionTypeOf(step),
      attempts: fact.attempt - nodeAt(state, fact.node)!.attemptBase,
      status: fact.type.slice('Node'.length),
      durationMs,
      ...(error === null ? {} : { 'error.type': error.code }),
    },
    error: error === null ? null : describe(error),
  };
}

export function attemptContent(request: RanAttempt, result: AttemptResult, durationMs: number): Content {
  const { nodeId, actionType, attempt } = request;
  return {
    name: `action ${actionType}`,
    attributes: {
      ...placeOf(request, request),
      stepId: nodeId,
      attemptId: String(attempt),
      actionType,
      attempt,
      retryCount: attempt - 1,
      status: attemptStatus(result),
      durationMs,
      ...(result.ok ? {} : { 'error.type': result.error.code }),
    },
    error: result.ok ? null : describe(result.error),
  };
}

/** The ids are those of events: a plan names its runs and versions itself. */
function placeOf(
  {
    executionId,
    workflowId,
    version,
    tenantId,
  }: Pick<NewExecution, 'executionId' | 'workflowId' | 'version' | 'tenantId'>,
  { runId, planVersion }: { readonly runId?: string | undefined; readonly planVersion?: string | null | undefined },
) {
  const named = planVersion ?? String(shownVersion(version));
  return { runId: runId ?? executionId, executionId, workflowId, planVersion: named, tenantId };
}

function attemptStatus(result: AttemptResult): string {
  if (result.ok) return 'Succeeded';
  if (result.aborted === true) return 'Cancelled';
  if (result.timedOut === true) return 'TimedOut';
  return result.retryable ? 'RetriableFailure' : 'Failed';
}

const describe = ({ code, message }: { code: string; message: string }): string => `${code}: ${message}`;
