// The audit log on the wire: who changed what, newest first.

import { z } from 'zod';
import { timestamp } from './identifier.ts';
import { pageQuery } from './page.ts';

const text = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters');

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: timestamp,
    actor: z.string().describe("the token's subject, or the name of the API key"),
    action: z.string().describe('e.g. `workflow.publish`, `execution.signal`, `key.revoke`'),
    target: z.string().describe('e.g. `workflow/onboard-project`'),
    details: z.unknown().optional(),
    correlationId: z.string().optional(),
  })
  .meta({ id: 'AuditEntry' });

export const auditQuery = z.object({
  limit: pageQuery.limit,
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'is not a cursor of this list')
    .optional(),
  actor: text.optional(),
  action: text.optional().describe('a whole action, or the part before its dot'),
  target: text.optional(),
  after: timestamp.optional(),
  before: timestamp.optional(),
});

export const tenantSchema = z
  .object({
    tenantId: z.string(),
    preset: z.string().optional().describe('of its quota'),
    workflows: z.int().describe('that are not archived'),
    concurrentRuns: z.int(),
  })
  .meta({ id: 'Tenant' });

export const tenantListQuery = z.object(pageQuery);
