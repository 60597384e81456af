// Triggers on the wire: camelCase, absent rather than null. Secrets are never part of a
// trigger; a generated one is shown once, by the answer that made it.

import { z } from 'zod';
import { executionId, label, tenantId, timestamp, workflowId } from './identifier.ts';
import { numberCursor, pageQuery, queryFlag, uuidCursor } from './page.ts';

const TRIGGER_TYPES = ['Webhook', 'Schedule', 'Event', 'Manual'] as const;
const FIRING_OUTCOMES = ['started', 'condition_false', 'skipped', 'failed'] as const;

const triggerType = z.enum(TRIGGER_TYPES);
const uuid = executionId;

/** An id that becomes part of a request id. */
const eventId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

const config = z
  .record(z.string(), z.unknown())
  .describe(
    '`{ cron, timezone?, catchUp?, payload? }`, `{ verification?, secret? | generateSecret?, allowUnsigned?, respond?, deliveryIdHeader?, verifyToken?, path? }`, `{ eventType, filter? }` or `{}`',
  );

const activationCondition = z.string().describe('an expression over `trigger`; false or failing: nothing is started');

export const triggerParams = z.object({ triggerId: uuid });

export const triggerCreateRequest = z
  .strictObject({
    workflowId,
    triggerType,
    isEnabled: z.boolean().optional(),
    config: config.optional(),
    activationCondition: activationCondition.nullable().optional(),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'TriggerCreateRequest' });

export const triggerUpdateRequest = triggerCreateRequest
  .partial()
  .extend({ config: z.record(z.string(), z.unknown()).optional() })
  .meta({ id: 'TriggerUpdateRequest' });

export const firingSchema = z
  .object({
    firedAt: timestamp,
    requestId: z.string(),
    slot: timestamp.optional().describe('of a schedule'),
    outcome: z.enum(FIRING_OUTCOMES),
    executionId: executionId.optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Firing' });

export const triggerSchema = z
  .object({
    id: uuid,
    workflowId: z.string(),
    triggerType,
    isEnabled: z.boolean(),
    config: z.record(z.string(), z.unknown()),
    activationCondition: z.string().optional(),
    nextFireTimes: z.array(timestamp).optional().describe('of an enabled schedule: the next five'),
    webhookUrl: z.string().optional(),
    hasSecret: z.boolean().optional().describe('of a webhook: whether requests must be signed'),
    secret: z.string().optional().describe('a secret that was just made: shown now and never again'),
    lastFiring: firingSchema.optional().describe('what became of the newest'),
    missed: firingSchema
      .optional()
      .describe(
        'of a schedule: the newest slots that were missed and not made good, if among its last hundred firings',
      ),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Trigger' });

export const triggerListQuery = z.object({
  workflowId: workflowId.optional(),
  triggerType: triggerType.optional(),
  isEnabled: queryFlag.optional(),
  tenantId: tenantId.optional().describe("must be the token's"),
  limit: pageQuery.limit,
  cursor: uuidCursor.optional(),
});

export const secretRotateRequest = z
  .strictObject({
    secret: z.string().optional().describe('absent: one is made'),
    keepPrevious: z.boolean().optional().describe('false: the secret before it is refused at once'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'SecretRotateRequest' });

export const firingListQuery = z.object({
  ...pageQuery,
  cursor: numberCursor.optional(),
});

/** Slots are never fired early, so the range ends now at the latest. */
export const backfillRequest = z
  .strictObject({
    from: timestamp.describe('the first slot is at this time or after it'),
    until: timestamp.describe('the last slot is before this time, which has passed'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'BackfillRequest' });

export const backfillAnswer = z
  .object({
    slots: z.int().describe('slots of the range that were seen to by this request'),
    started: z.int(),
    repeated: z.int().describe('had been started before'),
    refused: z.int().describe('started nothing; its firings say why'),
    nextFrom: timestamp.optional().describe('there are more slots: ask again from here'),
  })
  .meta({ id: 'BackfillAnswer' });

export const startedAnswer = z.object({ executionId }).meta({ id: 'FiringStarted' });
export const firingAnswer = z
  .union([startedAnswer, z.object({ started: z.literal(false), reason: z.string() })])
  .meta({ id: 'FiringAnswer' });

export const testAnswer = z
  .object({
    verification: z.string().describe('how the sample proved its sender'),
    executionId: executionId.optional(),
    started: z.literal(false).optional(),
    reason: z.string().optional(),
    challenge: z.string().optional(),
  })
  .meta({ id: 'WebhookTestAnswer' });

export const eventRequest = z
  .strictObject({
    id: eventId.optional().describe('the same id starts nothing twice'),
    type: label(200),
    data: z.unknown().optional(),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'EventRequest' });

export const eventAnswer = z
  .object({
    eventId: z.string(),
    executions: z.array(
      z.object({
        triggerId: uuid,
        executionId: executionId.optional(),
        started: z.boolean(),
        reason: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'EventAnswer' });
