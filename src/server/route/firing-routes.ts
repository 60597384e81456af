// What fires triggers over HTTP: webhooks and the questions of their providers, events, and a person who tries one out.

import { z } from 'zod';
import type { Verification } from '../../core/definition/webhook-schema.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import { executionSchema } from '../../protocol/execution.ts';
import {
  backfillAnswer,
  backfillRequest,
  eventAnswer,
  eventRequest,
  firingAnswer,
  startedAnswer,
  testAnswer,
  triggerParams,
} from '../../protocol/trigger.ts';
import type { Fired } from '../../trigger/firing.ts';
import type { Challenged } from '../../trigger/intake.ts';
import { traceOf } from '../correlation.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { RouteParts } from '../parts.ts';
import { presentExecution } from '../present/execution.ts';
import { firedAnswer, presentEventAnswer } from '../present/trigger.ts';
import type { WorkflowThrottle } from '../rate-limit.ts';
import { resultWithin } from '../result-wait.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';
import { readWebhookBody, withPayload } from '../webhook-body.ts';
import { visibleHeaders } from './pipeline-trigger.ts';

/** Most senders of webhooks wait no longer than this. */
const WEBHOOK_WAIT_MS = 30_000;

type Parts = Pick<RouteParts, 'backfill' | 'executions' | 'intake' | 'options' | 'throttle'>;

export function firingRoutes(deps: Parts): RouteSpec[] {
  const { backfill, executions, intake, options } = deps;
  const paths = new Set([`${options.trigger.webhookBasePath}/:triggerId`, CHALLENGED_PATH]);
  return [
    defineRoute({
      access: 'triggers:manage',
      tag: 'Triggers',
      method: 'POST',
      path: '/api/v1/triggers/:triggerId/fire',
      summary:
        'Fire a trigger by hand, enabled or not, with the body as its payload; an Idempotency-Key makes it fire once',
      notFound: 'TRIGGER_NOT_FOUND',
      params: triggerParams,
      body: z.unknown(),
      bodyIsPayload: true,
      responses: { 202: startedAnswer, 200: firingAnswer },
      async handle({ params: { triggerId }, body, headers, caller, givenCorrelationId }) {
        const fired = await intake.manual(
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
    }),
    defineRoute({
      access: 'triggers:manage',
      tag: 'Triggers',
      method: 'POST',
      path: '/api/v1/triggers/:triggerId/backfill',
      summary: 'Fire the slots of a schedule between two times; slots that already started are skipped',
      notFound: 'TRIGGER_NOT_FOUND',
      params: triggerParams,
      body: backfillRequest,
      responses: { 200: backfillAnswer },
      async handle({ params: { triggerId }, body: { from, until }, caller, by }) {
        const range = { from: Date.parse(from), until: Date.parse(until) };
        const { nextFrom, ...counts } = await backfill.run({ tenantId: caller.tenantId, triggerId }, range, by);
        const next = nextFrom === null ? {} : { nextFrom: new Date(nextFrom).toISOString() };
        return { status: 200, body: { ...counts, ...next } };
      },
    }),
    ...(options.trigger.enableWebhooks
      ? [
          ...[...paths].map((path) =>
            defineRoute({
              ...ofWebhook,
              method: 'POST',
              path,
              summary:
                'Receive a webhook that proves its sender: 202 new, 200 repeated, not started, or the answer to a challenge; a trigger with `respond: "result"` answers with the finished execution',
              bodyKind: 'raw',
              query: z.record(z.string(), z.unknown()),
              body: z.unknown(),
              bodyIsPayload: true,
              responses: { 202: startedAnswer, 200: z.union([executionSchema, firingAnswer, challengeAnswer]) },
              async handle(request) {
                const { params, query, rawBody, headers, givenCorrelationId } = request;
                const { fired, awaitedBy } = await intake.webhook(params.triggerId, {
                  rawBody,
                  headers,
                  query,
                  read: (verification) => webhookBody(verification, rawBody, headers['content-type']),
                  visibleHeaders: visibleHeaders(headers),
                  correlationId: givenCorrelationId,
                  ...traceOf(headers),
                  ...admission(deps),
                });
                if (awaitedBy === null || fired.outcome !== 'started') return webhookAnswer(fired);
                const { executionId } = fired;
                const awaiting = {
                  query: { wait: WEBHOOK_WAIT_MS },
                  caller: { tenantId: awaitedBy },
                  aside: request.aside,
                };
                const wanted = { ...awaiting, signal: request.signal };
                const ended = await resultWithin(executions, wanted, executionId);
                return ended === null ? firedAnswer(fired) : { status: 200, body: presentExecution(ended) };
              },
            }),
          ),
          defineRoute({
            ...ofWebhook,
            method: 'GET',
            path: CHALLENGED_PATH,
            summary: "Answer Meta's verification request with `hub.challenge` if `hub.verify_token` is right",
            query: z.record(z.string(), z.unknown()),
            sends: 'text/plain',
            responses: { 200: null },
            async handle({ params, query }) {
              const challenge = await intake.hubChallenge(params.triggerId, query);
              if (challenge === null)
                throw new PawlError('SIGNATURE_INVALID', 'the verify token is not the one of this webhook');
              return { status: 200, body: challenge, headers: { 'content-type': 'text/plain' } };
            },
          }),
          defineRoute({
            access: 'triggers:manage',
            tag: 'Triggers',
            method: 'POST',
            path: '/api/v1/triggers/:triggerId/test',
            summary: 'Send a signed sample to a webhook trigger; the body is the payload of the sample',
            notFound: 'TRIGGER_NOT_FOUND',
            params: triggerParams,
            body: z.unknown(),
            bodyIsPayload: true,
            responses: { 200: testAnswer },
            async handle({ params: { triggerId }, body, caller, headers, givenCorrelationId }) {
              const { verification, answer } = await intake.test(
                { tenantId: caller.tenantId, triggerId },
                {
                  body: (body ?? { test: true }) as Json,
                  principal: caller.principal as unknown as Json,
                  correlationId: givenCorrelationId,
                  ...traceOf(headers),
                  ...admission(deps),
                },
              );
              return { status: 200, body: { verification, ...(webhookAnswer(answer).body as object) } };
            },
          }),
        ]
      : []),
    ...(options.trigger.enableEvents
      ? [
          defineRoute({
            access: 'workflows:execute',
            tag: 'Triggers',
            method: 'POST',
            path: '/api/v1/events',
            summary: 'Publish an event: it fires every enabled trigger of its type whose filter holds',
            body: eventRequest,
            responses: { 202: eventAnswer },
            async handle({ body: { id, type, data = {} }, caller, headers, givenCorrelationId }) {
              const context = {
                principal: caller.principal as unknown as Json,
                correlationId: givenCorrelationId,
                ...traceOf(headers),
                ...admission(deps),
              };
              const answer = await intake.event(caller.tenantId, { id, type, data: data as Json }, context);
              return { status: 202, body: presentEventAnswer(answer) };
            },
          }),
        ]
      : []),
  ];
}

function admission({ throttle }: Parts) {
  if (throttle === null) return {};
  return { admit: (start: Parameters<WorkflowThrottle['spend']>[0]) => throttle.spend(start) };
}

const challengeAnswer = z.object({ challenge: z.string() }).meta({ id: 'WebhookChallenge' });
const ofWebhook = {
  access: 'public',
  tag: 'Triggers',
  notFound: 'TRIGGER_NOT_FOUND',
  params: triggerParams,
  anyQuery: true,
} as const;

/** Beside the address of every webhook, where a GET means the provider's question and not a look at the trigger. */
const CHALLENGED_PATH = '/api/v1/webhooks/:triggerId';

/** GitHub sends the same event as JSON or as a form with the JSON in `payload`: the workflow sees the event. */
async function webhookBody(verification: Verification, rawBody: Buffer, contentType?: string): Promise<Json> {
  const body = await readWebhookBody(rawBody, contentType);
  if (verification !== 'github' && verification !== 'slack') return body;
  const parsed = withPayload(body);
  if (parsed === null) return body;
  return verification === 'github' ? parsed.payload! : parsed;
}

function webhookAnswer(answer: Fired | Challenged): Answer {
  if (answer.outcome !== 'challenged') return firedAnswer(answer);
  return { status: 200, body: { challenge: answer.challenge } };
}
