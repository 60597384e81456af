// What fires triggers over HTTP: webhooks, events, and a person who tries one out.

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import { eventAnswer, eventRequest, firingAnswer, startedAnswer, triggerParams } from '../../protocol/trigger.ts';
import type { Intake } from '../../trigger/intake.ts';
import { traceOf } from '../correlation.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { WorkflowThrottle } from '../rate-limit.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { visibleHeaders } from './pipeline-trigger.ts';
import { eventView, firedAnswer } from './trigger-view.ts';

export interface FiringRoutesDeps {
  readonly intake: Intake;
  /** Null: workflows may be started as often as anybody likes. */
  readonly throttle: WorkflowThrottle | null;
  readonly enableWebhooks: boolean;
  readonly enableEvents: boolean;
  /** Where webhooks come in. */
  readonly webhookBasePath: string;
}

export function firingRoutes(deps: FiringRoutesDeps): RouteSpec[] {
  return [
    fireRoute(deps),
    ...(deps.enableWebhooks ? [webhookRoute(deps)] : []),
    ...(deps.enableEvents ? [eventRoute(deps)] : []),
  ];
}

function admission({ throttle }: FiringRoutesDeps) {
  if (throttle === null) return {};
  return { admit: (start: Parameters<WorkflowThrottle['spend']>[0]) => throttle.spend(start) };
}

function webhookRoute(deps: FiringRoutesDeps): RouteSpec {
  return defineRoute({
    access: 'public',
    tag: 'Triggers',
    method: 'POST',
    path: `${deps.webhookBasePath}/:triggerId`,
    summary: 'Receive a webhook, signed as Standard Webhooks has it: 202 new, 200 repeated or not started',
    notFound: 'TRIGGER_NOT_FOUND',
    params: triggerParams,
    bodyKind: 'any',
    anyQuery: true,
    body: z.unknown(),
    bodyIsPayload: true,
    responses: { 202: startedAnswer, 200: firingAnswer },
    async handle({ params, body, rawBody, headers, givenCorrelationId }) {
      const fired = await deps.intake.webhook(params.triggerId, {
        rawBody,
        headers,
        body: body as Json,
        visibleHeaders: visibleHeaders(headers),
        correlationId: givenCorrelationId,
        ...traceOf(headers),
        ...admission(deps),
      });
      return firedAnswer(fired);
    },
  });
}

function eventRoute(deps: FiringRoutesDeps): RouteSpec {
  return defineRoute({
    access: 'workflows:execute',
    tag: 'Triggers',
    method: 'POST',
    path: '/api/v1/events',
    summary: 'Publish an event: every enabled trigger that waits for its type, and whose filter holds, is fired',
    body: eventRequest,
    responses: { 202: eventAnswer },
    async handle({ body: { id, type, data = {} }, caller, headers, givenCorrelationId }) {
      const context = {
        principal: caller.principal as unknown as Json,
        correlationId: givenCorrelationId,
        ...traceOf(headers),
        ...admission(deps),
      };
      const answer = await deps.intake.event(caller.tenantId, { id, type, data: data as Json }, context);
      return { status: 202, body: eventView(answer) };
    },
  });
}

function fireRoute(deps: FiringRoutesDeps): RouteSpec {
  return defineRoute({
    access: 'triggers:manage',
    tag: 'Triggers',
    method: 'POST',
    path: '/api/v1/triggers/:triggerId/fire',
    summary: 'Fire a trigger by hand, enabled or not, with the body as its payload; with an Idempotency-Key, once',
    notFound: 'TRIGGER_NOT_FOUND',
    params: triggerParams,
    body: z.unknown(),
    bodyIsPayload: true,
    responses: { 202: startedAnswer, 200: firingAnswer },
    async handle({ params: { triggerId }, body, headers, caller, givenCorrelationId }) {
      const fired = await deps.intake.manual(
        { tenantId: caller.tenantId, triggerId },
        {
          body: body as Json,
          headers: visibleHeaders(headers),
          id: idempotencyKeyOf(headers),
          principal: caller.principal as unknown as Json,
          correlationId: givenCorrelationId,
          ...traceOf(headers),
          ...admission(deps),
        },
      );
      return firedAnswer(fired);
    },
  });
}
