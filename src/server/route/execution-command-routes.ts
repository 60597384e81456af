// Changing executions: start, cancel, signal, retry. All of them are accepted when they are durable, and safe to repeat (I1).

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import { requestInvalid } from '../../core/error/request-invalid.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import {
  acceptedAnswer,
  cancelRequest,
  executeAnswer,
  executeRequest,
  executionSchema,
  retryAnswer,
} from '../../protocol/execution.ts';
import { executionRef, tenantId, workflowId } from '../../protocol/identifier.ts';
import { signalAnswer, signalRequest } from '../../protocol/signal.ts';
import { SIGNAL_ROLES } from '../../protocol/signal-role.ts';
import { resultWait } from '../../protocol/wait.ts';
import { principalFor } from '../auth/principal.ts';
import { requireRole } from '../auth/role.ts';
import { traceOf } from '../correlation.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { RouteParts } from '../parts.ts';
import { presentExecution } from '../present/execution.ts';
import { plannedStart } from '../rate-limit.ts';
import { resultWithin } from '../result-wait.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const BASE = '/api/v1/executions/:executionId';
const one = {
  method: 'POST',
  tag: 'Executions',
  notFound: 'EXECUTION_NOT_FOUND',
  params: z.object({ executionId: executionRef }),
} as const;

export function executionCommandRoutes({
  executions,
  options,
  signalThrottle,
  throttle,
}: Pick<RouteParts, 'executions' | 'options' | 'signalThrottle' | 'throttle'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/workflows/:workflowId/execute',
      access: 'workflows:execute',
      tag: 'Executions',
      summary:
        'Start an execution: 202 when it is new, 200 when the requestId (or the Idempotency-Key) is known; with `wait`, 200 with the finished execution if it ends in time',
      notFound: 'WORKFLOW_NOT_FOUND',
      params: z.object({ workflowId }),
      query: z.object({ wait: resultWait, tenantId: tenantId.optional() }),
      body: executeRequest,
      responses: { 200: executionSchema.or(executeAnswer), 202: executeAnswer },
      async handle(request) {
        const { params, body, caller, headers, givenCorrelationId } = request;
        const { trigger, spec, principal, tenantId: _checked, ...asked } = body;
        if (options.auth.requirePrincipalForExecute && principal === undefined) throw principalMissing();
        // Many clients send the header automatically, so the body wins.
        const requestId = asked.requestId ?? idempotencyKeyOf(headers);
        const start = { tenantId: caller.tenantId, workflowId: params.workflowId, ...defined({ requestId }) };
        const hold = await throttle?.spend({ ...start, projectId: asked.projectId });
        const { executionId: id, isNew } = await executions.start({
          ...defined(asked),
          ...start,
          hold,
          ...traceOf(headers),
          principal: principalFor(caller, principal) as unknown as Json,
          ...defined({
            trigger: trigger as Json | undefined,
            spec: spec as Json | undefined,
            correlationId: givenCorrelationId,
          }),
        });
        const ended = await resultWithin(executions, request, id);
        if (ended !== null) return { status: 200, body: presentExecution(ended) };
        const status = isNew ? 'Pending' : (await executions.get(caller.tenantId, id)).status;
        const statusUrl = `/api/v1/executions/${id}`;
        return {
          status: isNew ? 202 : 200,
          headers: { location: statusUrl },
          body: { executionId: id, status, statusUrl, ...(isNew ? plannedStart(hold) : {}) },
        };
      },
    }),
    defineRoute({
      ...one,
      path: `${BASE}/cancel`,
      access: 'workflows:execute',
      summary: 'Cancel: 202 when accepted, 200 when repeated, 409 when it ended otherwise',
      body: cancelRequest,
      responses: { 200: acceptedAnswer, 202: acceptedAnswer },
      async handle({ params: { executionId: id }, body, caller, by }) {
        const { repeated } = await executions.cancel(caller.tenantId, id, body.reason, by, body.terminate);
        const { status } = await executions.get(caller.tenantId, id);
        return { status: repeated ? 200 : 202, body: { executionId: id, status } };
      },
    }),
    defineRoute({
      ...one,
      path: `${BASE}/signals`,
      access: 'executions:signal',
      summary:
        'Send a signal (PAUSE, RESUME, RETRY_STEP, …): 202 accepted, 200 repeated, 409 when it cannot be applied',
      body: signalRequest,
      responses: { 200: signalAnswer, 202: signalAnswer },
      async handle({ params: { executionId: id }, body: { signalId, type, payload }, caller, by }) {
        requireRole(caller, SIGNAL_ROLES[type], type);
        await signalThrottle?.spend(caller.tenantId, async () => (await executions.get(caller.tenantId, id)).projectId);
        const signal = { signalId: signalId.toLowerCase(), type, payload: payload as JsonObject };
        const refused = await executions.signalRefusal(caller.tenantId, id, signal);
        if (refused !== null) throw new PawlError('WFENG002', `${type} cannot be applied: ${refused}`);
        const { repeated } = await executions.signal(caller.tenantId, id, signal, by);
        return { status: repeated ? 200 : 202, body: { executionId: id, signalId: signal.signalId, repeated } };
      },
    }),
    defineRoute({
      ...one,
      path: `${BASE}/retry`,
      access: 'executions:signal',
      summary: 'Run the failed nodes and everything after them again',
      responses: { 202: retryAnswer },
      async handle({ params: { executionId: id }, caller, by }) {
        requireRole(caller, SIGNAL_ROLES.RETRY_STEP, 'RETRY_STEP');
        const { nodes } = await executions.retry(caller.tenantId, id, by);
        return { status: 202, body: { executionId: id, nodes } };
      },
    }),
  ];
}

/** The fields that have a value, for targets that tell absent from undefined. */
function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

const principalMissing = () =>
  requestInvalid([{ code: 'REQUIRED', path: '/principal', message: 'is required (auth.requirePrincipalForExecute)' }]);
