// API keys on the wire. A key is shown once, when it is created.

import { z } from 'zod';
import { label, tenantId, timestamp } from './identifier.ts';
import { limitsSchema } from './limit.ts';
import { ROLES, SCOPES } from './scope.ts';

export const keyRequest = z
  .strictObject({
    name: label(100),
    scopes: z.array(z.enum(SCOPES)).min(1),
    roles: z.array(z.enum(ROLES)).default([]),
    limits: limitsSchema.optional(),
    expiresAt: timestamp.optional(),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'KeyRequest' });

export const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    roles: z.array(z.string()),
    limits: limitsSchema.optional(),
    createdAt: timestamp,
    expiresAt: timestamp.optional(),
    revokedAt: timestamp.optional(),
  })
  .meta({ id: 'ApiKey' });

export const newKeySchema = z.object({ id: z.string(), key: z.string().describe('shown now and never again') });

export type KeyJson = z.infer<typeof keySchema>;
export type KeyRequest = z.input<typeof keyRequest>;
export type NewKeyJson = z.infer<typeof newKeySchema>;
