// The audit log on the wire: who changed what, newest first.

import { z } from 'zod';
import { label, timestamp } from './identifier.ts';
import { numberCursor, pageQuery } from './page.ts';

const text = label(300);

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
  cursor: numberCursor.optional(),
  actor: text.optional(),
  action: text.optional().describe('a whole action, or the part before its dot'),
  target: text.optional(),
  after: timestamp.optional(),
  before: timestamp.optional(),
});

/** The number of a record and its hash. */
export const AUDIT_HEAD = /^\d{1,15}:[0-9a-f]{64}$/;

export const auditVerifyQuery = z.object({
  head: z
    .string()
    .regex(AUDIT_HEAD, 'must be the `head` of an earlier answer, such as "17:9f86…"')
    .optional()
    .describe('the `head` of an earlier answer: shows when records at the end were removed since'),
});

export const auditVerifyAnswer = z
  .object({
    ok: z.boolean(),
    records: z.int().describe('that follow each other as they were written'),
    head: z.string().optional().describe('the last of them: keep it where nobody can change it'),
    problem: z.string().optional(),
  })
  .meta({ id: 'AuditVerification' });

export const tenantSchema = z
  .object({
    tenantId: z.string(),
    preset: z.string().optional().describe('of its quota'),
    workflows: z.int().describe('that are not archived'),
    concurrentRuns: z.int(),
  })
  .meta({ id: 'Tenant' });

export const tenantListQuery = z.object(pageQuery);
