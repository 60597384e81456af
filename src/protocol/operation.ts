// Operations on the wire: health, dead letters, runners, the catalog.

import { z } from 'zod';
import { anyOfFields } from './choice.ts';
import { executionId, timestamp } from './identifier.ts';
import { numberCursor, pageQuery } from './page.ts';

export const livenessSchema = z.object({ status: z.literal('ok') });

const check = z.object({ ok: z.boolean(), latencyMs: z.number().optional(), detail: z.string().optional() });

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'notReady']),
    checks: z.object({ database: check, queue: check, actions: check, stopping: check.optional() }),
  })
  .meta({ id: 'Readiness' });

const HEALTH = ['healthy', 'degraded', 'unhealthy'] as const;

const reasons = z.array(z.string()).describe('why it is not healthy, one sentence each');

export const healthSchema = z.object({ status: z.enum(HEALTH), reasons }).meta({ id: 'EngineHealth' });

/** An engine besides the native one; absent where the installation has none. */
const engineCheckSchema = z.object({
  status: z.enum(HEALTH),
  detail: z.string().optional(),
  startLatencyP95Ms: z.number().optional().describe('of the last runs that this process started there'),
});

export const detailedHealthSchema = z
  .object({
    status: z.enum(HEALTH),
    reasons,
    checks: z.object({
      native: z.object({
        liveRunners: z.int(),
        owned: z.int(),
        queueDepth: z.int(),
        startLatencyP95Ms: z.number().optional().describe('of the last starts in this process'),
        places: z
          .object({
            total: z.int(),
            used: z.int(),
            waiting: z.int(),
            longestMs: z.int().describe('how long the first of them has waited'),
            holders: z.array(z.object({ tenantId: z.string(), held: z.int() })).optional(),
          })
          .optional()
          .describe('of attempts in this process; who holds them is shown to the role System'),
      }),
      temporal: engineCheckSchema
        .extend({ namespace: z.string().optional(), workflowCount: z.int().optional() })
        .optional(),
      conductor: engineCheckSchema.extend({ url: z.string().optional() }).optional(),
      stateStore: z.object({ latencyMs: z.number(), connections: z.int(), writable: z.boolean() }),
      secretsProvider: z.object({ reachable: z.boolean(), latencyMs: z.number().optional(), detail: z.string() }),
      artifactStore: z.object({ writable: z.boolean(), latencyMs: z.number().optional(), detail: z.string() }),
      eventBus: z.object({ connected: z.boolean(), backlogDepth: z.int().optional() }),
    }),
  })
  .meta({ id: 'EngineHealthDetailed' });

export const deadLetterSchema = z
  .object({
    id: z.string(),
    tenantId: z.string().optional().describe('with `tenants=all`'),
    executionId: executionId.optional().describe('absent: it never began, as what a trigger brought could not be used'),
    triggerId: z.string().optional(),
    requestId: z.string().optional(),
    enqueuedAt: timestamp,
    reason: z.string(),
    payload: z.unknown(),
    attempts: z.int(),
    lastError: z.string().optional(),
  })
  .meta({ id: 'DeadLetter' });

export const deadLetterListQuery = z.object({
  limit: pageQuery.limit,
  cursor: numberCursor.optional(),
  tenants: z.literal('all').optional().describe('of every tenant; needs the role System'),
});

export const runnerSchema = z
  .object({
    runnerId: z.string(),
    name: z.string(),
    state: z.enum(['live', 'draining', 'stopped', 'dead']),
    leaseExpiresAt: timestamp,
    owned: z.int(),
    registeredAt: timestamp,
    host: z.string().optional(),
    version: z.string().optional().describe('of Pawl'),
    places: z
      .object({ total: z.int(), busy: z.int() })
      .optional()
      .describe('for attempts, as it said within the last seconds'),
  })
  .meta({ id: 'Runner' });

export const connectorSchema = z
  .object({
    id: z.string(),
    displayName: z.string(),
    description: z.string(),
    iconUrl: z.string().optional(),
    documentationUrl: z.string().optional(),
    configSchema: z.unknown().optional().describe('JSON Schema of what to set for it, by environment variable'),
    isEnabled: z.boolean(),
    requiresAuth: z.boolean(),
    authType: z.string().optional(),
    version: z.string(),
    capabilities: z.array(z.string()),
    createdAt: timestamp,
    credential: z
      .object({ isSet: z.boolean(), lastOkAt: timestamp.optional(), lastRefusedAt: timestamp.optional() })
      .optional()
      .describe(
        "of the tenant's connections and the environment: whether one is set, when it last worked and was refused",
      ),
  })
  .meta({ id: 'Connector' });

export const actionSchema = z
  .object({
    id: z.string(),
    displayName: z.string(),
    description: z.string(),
    category: z.string(),
    connectorId: z.string(),
    parameterSchema: z.unknown(),
    outputSchema: z.unknown(),
    isEnabled: z.boolean(),
    version: z.string(),
    deprecationNotice: z.string().optional(),
    tags: z.array(z.string()),
    codes: z.array(z.string()).optional().describe('the codes that it fails with; absent: it does not declare them'),
    createdAt: timestamp,
  })
  .meta({ id: 'Action' });

export const connectorPatch = z.object({ isEnabled: z.boolean() }).strict();

export const actionPatch = z
  .object({
    isEnabled: z.boolean().optional(),
    deprecationNotice: z.string().min(1).max(1_000).nullable().optional().describe('null takes it away'),
  })
  .strict()
  .refine((patch) => Object.keys(patch).length > 0, 'nothing to change')
  .meta(anyOfFields(['isEnabled', 'deprecationNotice'], ['deprecationNotice']));

export const eraseRequest = z
  .object({
    person: z
      .string()
      .min(3)
      .max(500)
      .optional()
      .describe('user id, e-mail or another text that names the person; absent: all data of the tenant'),
    dryRun: z.boolean().default(true).describe('count, and remove nothing'),
    reason: z.string().min(1).max(500).describe('stands in the audit log'),
  })
  .strict()
  .meta({ id: 'EraseRequest' });

export const eraseAnswer = z
  .object({
    dryRun: z.boolean(),
    erased: z.record(z.string(), z.int()).describe('rows by kind: executions, events, attempts, logs, artifacts, …'),
  })
  .meta({ id: 'EraseAnswer' });

export type EraseRequest = z.input<typeof eraseRequest>;
export type EraseJson = z.infer<typeof eraseAnswer>;
