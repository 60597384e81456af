// Open callbacks on the wire: the waiting node, since when and until when.

import { z } from 'zod';
import { executionId, tenantId, timestamp, workflowId } from './identifier.ts';
import { pageQuery, uuidCursor } from './page.ts';

export const waitListQuery = z.object({
  limit: pageQuery.limit,
  cursor: uuidCursor.optional(),
  workflowId: workflowId.optional(),
  tenantId: tenantId.optional(),
});

export const waitSchema = z
  .object({
    executionId,
    workflowId: z.string(),
    version: z.int(),
    nodeId: z.string(),
    since: timestamp,
    until: timestamp.optional().describe('when the wait times out'),
    requestId: z.string().optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'Wait' });

export type WaitJson = z.infer<typeof waitSchema>;
