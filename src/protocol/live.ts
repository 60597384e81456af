// The live data of a dashboard, on the wire: counts of live executions, health, the newest execution, and changed rows.

import { z } from 'zod';
import { WHY, type Why } from './execution.ts';
import { type ExecutionRowJson, idList } from './execution-list.ts';
import { executionId, tenantId, timestamp } from './identifier.ts';
import { healthSchema } from './operation.ts';

export const liveQuery = z.object({
  watch: idList.optional().describe('executions whose changes are told, comma separated, at most 100'),
  tenantId: tenantId.optional(),
});

const counts = z.object(Object.fromEntries(WHY.map((why) => [why, z.int()])) as Record<Why, z.ZodInt>);

/** Counts stop at 10,000, which means that many or more. */
export const liveNowSchema = z
  .object({
    at: timestamp,
    live: counts.describe('live executions by what they wait for, each counted up to 10,000'),
    oldestQueuedAt: timestamp.optional(),
    deadLetters: z.int().describe('counted up to 1,000'),
    newest: executionId.optional(),
    health: healthSchema,
  })
  .meta({ id: 'LiveNow' });

export type LiveNowJson = z.infer<typeof liveNowSchema>;

/** As they come over the stream. */
export type LiveEvent =
  | { readonly event: 'now'; readonly data: Omit<LiveNowJson, 'health' | 'newest'> }
  | { readonly event: 'health'; readonly data: LiveNowJson['health'] }
  | { readonly event: 'newest'; readonly data: { readonly executionId: string } }
  | { readonly event: 'rows'; readonly data: readonly ExecutionRowJson[] };
