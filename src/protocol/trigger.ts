// Triggers on the wire (000 §13.7 and 4.1.1 of the design): camelCase, absent rather than null. Secrets are never part of a
// trigger; a generated one is shown once, by the answer that made it.

import { z } from 'zod';
import { executionId, tenantId, timestamp, workflowId } from './identifier.ts';
import { pageQuery, queryFlag } from './page.ts';

const TRIGGER_TYPES = ['Webhook', 'Schedule', 'Event', 'Manual'] as const;
const FIRING_OUTCOMES = ['started', 'condition_false', 'skipped', 'failed'] as const;

const triggerType = z.enum(TRIGGER_TYPES);
const uuid = executionId;

/** What ends in a request id. */
const eventId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

const config = z
  .record(z.string(), z.unknown())
  .describe(
    '`{ cron, timezone?, catchUp? }`, `{ secret? | generateSecret?, path? }`, `{ eventType, filter? }` or `{}`',
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
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Trigger' });

export const triggerListQuery = z.object({
  workflowId: workflowId.optional(),
  triggerType: triggerType.optional(),
  isEnabled: queryFlag.optional(),
  tenantId: z.string().optional().describe("must be the token's"),
  limit: pageQuery.limit,
  cursor: uuid.optional(),
});

export const secretRotateRequest = z
  .strictObject({
    secret: z.string().optional().describe('absent: one is made'),
    keepPrevious: z.boolean().optional().describe('false: the secret before it is refused at once'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'SecretRotateRequest' });

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

export const firingListQuery = z.object({
  ...pageQuery,
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'is not a cursor of this list')
    .optional(),
});

export const startedAnswer = z.object({ executionId }).meta({ id: 'FiringStarted' });
export const firingAnswer = z
  .union([startedAnswer, z.object({ started: z.literal(false), reason: z.string() })])
  .meta({ id: 'FiringAnswer' });

export const eventRequest = z
  .strictObject({
    id: eventId.optional().describe('the same id starts nothing twice'),
    type: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters'),
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
