// Consumers, deliveries and notices on the wire. Secrets are never part of a consumer; a generated one is shown once, by
// the answer that made it.

import { z } from 'zod';
import { consumerCode } from '../lifecycle/machine/definition-schema.ts';
import { REGISTERED_KINDS } from './consumer-kind.ts';
import { EXECUTION_EVENT_TYPES } from './event.ts';
import { idList } from './execution-list.ts';
import { executionId, tenantId, timestamp } from './identifier.ts';
import { pageQuery } from './page.ts';
import { waitQuery } from './wait.ts';

const STAGES = ['Pending', 'Delivered', 'Processed', 'Failed', 'Dead'] as const;
const stage = z.enum(STAGES);
const texts = z.array(z.string()).optional();

export const consumerParams = z.object({ code: consumerCode });
export const deliveryParams = z.object({ ackGuid: executionId });

const subscription = z
  .object({
    env: z.string().optional(),
    definition: z.string().optional().describe('a lifecycle'),
    kinds: z.array(z.enum(['transition', 'hook', 'execution'])).optional(),
    events: texts.describe('of a lifecycle'),
    workflows: texts,
    types: texts.describe('of executions, e.g. RunCompleted'),
  })
  .meta({ id: 'Subscription' });

/** Delivery settings; absent fields use the server's options. */
const options = z.object({
  timeoutMs: z.int().optional(),
  maxAttempts: z.int().optional().describe('0: no attempt is the last'),
  completeAt: z.enum(['Delivered', 'Processed']).optional(),
  subject: z.string().optional().describe('of a bus: what its subjects begin with'),
});

const text = z.string().min(1).max(200);
const subscriptionRequest = z.strictObject({
  env: text.optional(),
  definition: text.optional().describe('a lifecycle'),
  kinds: z
    .array(z.enum(['transition', 'hook', 'execution']))
    .min(1)
    .optional(),
  events: z.array(text).min(1).optional().describe('of a lifecycle'),
  workflows: z.array(text).min(1).optional(),
  types: z.array(z.enum(EXECUTION_EVENT_TYPES)).min(1).optional().describe('of executions'),
});

export const subscriptionsRequest = z.array(subscriptionRequest).max(100);

const settings = {
  url: z.string().nullable().optional().describe('of a webhook or a bus; no other kind has one'),
  secret: text.optional().describe('signs what a webhook is sent (`whsec_…`); absent: one is made'),
  subscriptions: subscriptionsRequest.optional().describe('which messages it wants'),
  ordering: z.enum(['delivered', 'processed']).optional().describe('what the next message of a subject waits for'),
  concurrency: z.int().min(1).max(1_000).optional(),
  options: z
    .strictObject({
      timeoutMs: z.int().min(10).max(300_000).optional(),
      maxAttempts: z.int().min(0).max(1_000_000).optional().describe('0: no attempt is the last'),
      completeAt: z.enum(['Delivered', 'Processed']).optional(),
      subject: z
        .string()
        .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, 'must be words joined by ".", such as "acme.events"')
        .optional()
        .describe('of a bus: what its subjects begin with'),
    })
    .optional(),
  connection: z
    .string()
    .nullable()
    .optional()
    .describe('of a webhook: a connection of connector `http` whose credential is put on every request; null: none'),
  isPaused: z.boolean().optional(),
  tenantId: tenantId.optional(),
};

/** Each field by itself. Rules that depend on the kind are in delivery/consumer-request.ts. */
export const consumerRequest = z
  .strictObject({ code: consumerCode, kind: z.enum(REGISTERED_KINDS), ...settings })
  .meta({ id: 'ConsumerRequest' });
export type ConsumerRequestJson = z.input<typeof consumerRequest>;
export const consumerChangeRequest = z
  .strictObject({ kind: z.enum(REGISTERED_KINDS).optional(), ...settings })
  .meta({ id: 'ConsumerChangeRequest' });

export const consumerSchema = z
  .object({
    code: z.string(),
    kind: z.enum(REGISTERED_KINDS),
    url: z.string().optional(),
    subscriptions: z.array(subscription),
    ordering: z.enum(['delivered', 'processed']),
    concurrency: z.int(),
    options,
    connection: z.string().optional().describe('whose credential is put on every request'),
    isPaused: z.boolean(),
    validSecrets: z.int(),
    createdAt: timestamp,
    updatedAt: timestamp,
    secret: z.string().optional().describe('a secret that was just made: shown now and never again'),
    backlog: z
      .object({
        pending: z.int().describe('not sent, or sent and not confirmed'),
        failed: z.int().describe('failed, and sent again later'),
        dead: z.int(),
        oldestAt: timestamp.optional(),
        lastError: z.string().optional(),
      })
      .optional()
      .describe('when it is read; each counted up to 10,000'),
  })
  .meta({ id: 'Consumer' });

export const replayRequest = z
  .strictObject({
    from: timestamp,
    until: timestamp.optional().describe('by default now'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'ReplayRequest' });

export const countAnswer = z.object({ count: z.int() }).meta({ id: 'Count' });

/** A message to a consumer: these fields for lifecycles, the event envelope for executions. */
export const workEventSchema = z
  .looseObject({
    ackGuid: z.string().optional(),
    kind: z.string().optional(),
    externalRef: z.string().optional(),
    env: z.string().optional(),
    definition: z.string().optional(),
    version: z.int().optional(),
    instanceId: z.string().optional(),
    occurredAt: z.string().optional(),
    event: z.unknown().optional(),
    payload: z.unknown().optional(),
  })
  .meta({ id: 'WorkEvent' });

/** A pull consumer acknowledges each message by its ackGuid, whatever its kind. */
export const pulledEventSchema = workEventSchema.extend({ ackGuid: z.string() }).meta({ id: 'PulledEvent' });

const LONGEST_WAIT_MS = 60_000;

export const deliveryQuery = z.object({
  consumer: consumerCode
    .optional()
    .describe('without `stage`: what is due to it is handed out, and is due again later'),
  wait: waitQuery(LONGEST_WAIT_MS, 'how long to wait when there is nothing'),
  stage: stage
    .or(z.literal('any'))
    .optional()
    .describe('lists deliveries of this stage, or of any, and hands out nothing'),
  ackGuids: idList.optional().describe('lists the deliveries of these messages, at most 100, and hands out nothing'),
  order: z.enum(['asc', 'desc']).optional().describe('of a list: `desc` begins with the newest'),
  ...pageQuery,
  cursor: z
    .string()
    .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.\d{1,9}$/, 'is not a cursor of this list')
    .optional(),
  tenantId: tenantId.optional(),
});

const deliveryState = {
  consumer: z.string(),
  stage,
  attempts: z.int(),
  reminders: z.int(),
  nextAttemptAt: timestamp.optional(),
  deliveredAt: timestamp.optional(),
  endedAt: timestamp.optional(),
  outcome: z.enum(['succeeded', 'failed']).optional(),
  message: z.string().optional(),
};

export const deliverySchema = z
  .object({
    ackGuid: executionId,
    ...deliveryState,
    kind: z.string(),
    subjectId: z.string().describe('the instance or execution'),
    env: z.string().optional().describe('of an instance: the environment of its lifecycle'),
    externalRef: z.string().optional().describe('of an instance: what its owner calls it'),
    source: z.string().describe('the lifecycle or workflow'),
    event: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: 'Delivery' });

export const messageSchema = z
  .object({
    ackGuid: executionId,
    kind: z.string(),
    subjectId: z.string(),
    source: z.string(),
    event: z.string(),
    createdAt: timestamp,
    message: workEventSchema,
    deliveries: z.array(z.object(deliveryState)),
  })
  .meta({ id: 'Message' });

export const ackRequest = z
  .strictObject({
    consumer: z.string().min(1).max(100),
    stage: z.enum(['Delivered', 'Processed']),
    outcome: z.enum(['succeeded', 'failed']).optional(),
    message: z.string().optional(),
    result: z
      .unknown()
      .optional()
      .describe(
        'with `Processed`, of a hook: becomes the payload of the event that `onProcessed` triggers; at most 64 KiB as JSON',
      ),
    retryAt: timestamp
      .optional()
      .describe('with a failure: when to send it again, at once if that has passed; without it the failure is final'),
    tenantId: tenantId.optional(),
  })
  .meta({
    id: 'AckRequest',
    // `retryAt` has a meaning only with a failure.
    allOf: [
      {
        anyOf: [
          { properties: { retryAt: { type: 'null' } } },
          { required: ['outcome'], properties: { outcome: { const: 'failed' } } },
        ],
      },
    ],
  });

export const ackAnswer = z
  .object({
    ackGuid: executionId,
    consumer: z.string(),
    stage,
    changed: z.boolean().describe('false: it stood there before'),
  })
  .meta({ id: 'Acked' });

export const requeueRequest = z
  .strictObject({
    consumer: consumerCode.optional().describe('by default all to whom it is dead or failed'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'RequeueRequest' });

export const noticeSchema = z
  .object({ id: z.string(), at: timestamp, kind: z.string(), message: z.string(), details: z.unknown() })
  .meta({ id: 'Notice' });

const noticeId = z.string().regex(/^\d{1,18}$/, 'is not the id of a notice');

export const noticeQuery = z.object({
  after: noticeId.optional().describe('the id of a notice: those after it; by default the last ones'),
  ...pageQuery,
  cursor: noticeId.optional(),
  tenantId: tenantId.optional(),
});

export type ConsumerJson = z.infer<typeof consumerSchema>;
export type SubscriptionJson = z.infer<typeof subscription>;
export type WorkEventJson = z.infer<typeof pulledEventSchema>;
export type DeliveryJson = z.infer<typeof deliverySchema>;
export type MessageJson = z.infer<typeof messageSchema>;
export type AckRequest = z.input<typeof ackRequest>;
export type AckJson = z.infer<typeof ackAnswer>;
export type NoticeJson = z.infer<typeof noticeSchema>;

/** The request to register a consumer. */
export interface ConsumerRegistration {
  readonly code: string;
  readonly kind: ConsumerJson['kind'];
  readonly url?: string | null;
  readonly secret?: string;
  readonly subscriptions?: readonly SubscriptionJson[];
  readonly ordering?: ConsumerJson['ordering'];
  readonly concurrency?: number;
  readonly options?: ConsumerJson['options'];
  readonly connection?: string | null;
  readonly isPaused?: boolean;
}
