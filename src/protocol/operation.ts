// Operations on the wire: health (004 §10.1), dead letters (003 §11), runners, the catalog (000 §13.4).

import { z } from 'zod';
import { executionId, timestamp } from './identifier.ts';

export const livenessSchema = z.object({ status: z.literal('ok') });

const check = z.object({ ok: z.boolean(), latencyMs: z.number().optional(), detail: z.string().optional() });

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'notReady']),
    checks: z.object({ database: check, queue: check, actions: check }),
  })
  .meta({ id: 'Readiness' });

const HEALTH = ['healthy', 'degraded', 'unhealthy'] as const;

export const healthSchema = z.object({ status: z.enum(HEALTH) }).meta({ id: 'EngineHealth' });

export const detailedHealthSchema = z
  .object({
    status: z.enum(HEALTH),
    checks: z.object({
      native: z.object({
        liveRunners: z.int(),
        owned: z.int(),
        queueDepth: z.int(),
        startLatencyP95Ms: z.number().optional().describe('of the last starts in this process'),
      }),
      stateStore: z.object({ latencyMs: z.number(), connections: z.int(), writable: z.boolean() }),
      secretsProvider: z.object({ reachable: z.boolean(), detail: z.string() }),
      artifactStore: z.object({ writable: z.boolean(), detail: z.string() }),
      eventBus: z.object({ connected: z.boolean(), backlogDepth: z.int().optional() }),
    }),
  })
  .meta({ id: 'EngineHealthDetailed' });

export const deadLetterSchema = z
  .object({
    id: z.string(),
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

export const runnerSchema = z
  .object({
    runnerId: z.string(),
    name: z.string(),
    state: z.enum(['live', 'stopped', 'dead']),
    leaseExpiresAt: timestamp,
    owned: z.int(),
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
  .refine((patch) => Object.keys(patch).length > 0, 'nothing to change');
