// The JSON log. Dashboards depend on its property names. The logged fields of requests and executions are listed here one by one:
// payloads, tokens and headers are not among them (S6).

import { pino } from 'pino';
import type { AttemptResult, RanAttempt } from '../action/attempt.ts';
import { runIdOf } from '../core/id/id.ts';
import { shownVersion } from '../core/plan/shown-version.ts';
import type { RaisedNotice } from '../delivery/notices.ts';
import type { EndedExecution } from '../engine/environment.ts';
import { maskCallbacks } from '../protocol/callback-mask.ts';
import type { NewExecution } from '../store/port.ts';
import type { TriggerRecord } from '../store/trigger-port.ts';
import type { Fired } from '../trigger/firing.ts';
import { withoutRepeats } from './repeats.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** An HTTP request and its answer. */
export interface AnsweredRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly correlationId: string;
  readonly caller: { readonly tenantId: string } | null;
}

export interface Log {
  request(request: AnsweredRequest): void;
  executionAccepted(execution: NewExecution): void;
  executionEnded(ended: EndedExecution): void;
  attemptEnded(request: RanAttempt, result: AttemptResult, durationMs: number): void;
  triggerFired(trigger: TriggerRecord, fired: Fired): void;
  noticed(notice: RaisedNotice): void;
  warn(event: string, details: Record<string, unknown>): void;
  failed(error: unknown, correlationId: string): void;
}

export interface LogTarget {
  write(line: string): void;
}

export function createLog(level: LogLevel, target: LogTarget): Log {
  const masked = { write: (line: string) => target.write(maskCallbacks(line)) };
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' }, masked);
  const worthTelling = withoutRepeats();
  return {
    request({ method, route, status, durationMs, correlationId, caller }) {
      const fields = {
        CorrelationId: correlationId,
        TenantId: caller?.tenantId,
        Method: method,
        Route: route,
        Status: status,
      };
      const line = { ...fields, DurationMs: Math.round(durationMs * 10) / 10 };
      // Health probes and pages would drown everything else. We answer 503 on purpose, and log its cause once.
      if (status >= 500 && status !== 503) log.error(line, 'request');
      else if (route.startsWith('/api/') || route.startsWith('/wh/')) log.info(line, 'request');
      else log.debug(line, 'request');
    },
    executionAccepted: (execution) => log.info(propertiesOf(execution), 'execution accepted'),
    executionEnded({ execution, status, state }) {
      const { error, startedAt, at = 0 } = state ?? {};
      const end = {
        Status: status,
        DurationMs: startedAt == null ? undefined : at - startedAt,
        ErrorCode: error?.code,
      };
      log.info({ ...propertiesOf(execution), NodeId: error?.nodeId, ...end }, 'execution ended');
    },
    attemptEnded(request, result, durationMs) {
      if (result.ok && !log.isLevelEnabled('debug')) return;
      const line = { ...attemptProperties(request), DurationMs: Math.round(durationMs * 10) / 10 };
      if (result.ok) log.debug(line, 'attempt succeeded');
      else {
        const { error, retryable, stack } = result;
        log.warn({ ...line, ErrorCode: error.code, Retryable: retryable, Stack: stack }, 'attempt failed');
      }
    },
    noticed({ tenantId, kind, message, details }) {
      log.info({ TenantId: tenantId, Notice: kind, Details: details }, message);
    },
    triggerFired({ tenantId, workflowId, triggerId, triggerType }, fired) {
      const trigger = { TenantId: tenantId, WorkflowId: workflowId, TriggerId: triggerId, TriggerType: triggerType };
      const line = { ...trigger, Outcome: fired.outcome };
      if (fired.outcome === 'started') log.info({ ...line, ExecutionId: fired.executionId }, 'trigger fired');
      // A schedule that its workflow refuses fails at every slot, and nobody would notice.
      else if (fired.outcome === 'failed') log.warn({ ...line, Reason: fired.reason }, 'trigger failed');
      else log.info({ ...line, Reason: fired.reason }, 'trigger did not start its workflow');
    },
    warn(event, details) {
      const news = worthTelling(event, details);
      if (news !== null) log.warn(news, event);
    },
    failed: (error, correlationId) => log.error({ CorrelationId: correlationId, err: error }, 'request failed'),
  };
}

/** Run, step and attempt have the ids that they have in events, traces and the API. */
function attemptProperties(request: RanAttempt): Record<string, unknown> {
  const { nodeId, attempt } = request;
  return {
    ...standardProperties(request, request.principal),
    NodeId: nodeId,
    ActionType: request.actionType,
    AttemptId: String(attempt),
    Attempt: attempt,
  };
}

function propertiesOf(execution: NewExecution): Record<string, unknown> {
  const runId = runIdOf(execution);
  const named = runId === execution.executionId ? {} : { runId };
  return standardProperties({ ...execution, ...named }, JSON.parse(execution.principal));
}

type Place = Pick<NewExecution, 'correlationId' | 'workflowId' | 'version' | 'executionId' | 'tenantId'> & {
  readonly runId?: string | undefined;
};

function standardProperties(execution: Place, by: unknown): Record<string, unknown> {
  const principal = by as { userId?: unknown; email?: unknown } | null;
  return {
    CorrelationId: execution.correlationId,
    WorkflowId: execution.workflowId,
    WorkflowVersion: shownVersion(execution.version),
    ExecutionId: execution.executionId,
    RunId: execution.runId,
    PrincipalUserId: principal?.userId,
    PrincipalEmail: principal?.email ?? undefined,
    TenantId: execution.tenantId,
  };
}
