// The recorded journal of an execution, for clients that fold it with the engine's own `evolve`; and one node with the inputs and
// outputs of all attempts. Times inside the journal are milliseconds since the epoch, as in the facts.

import { z } from 'zod';
import type { Fact } from '../core/decider/fact.ts';
import type { ExecutionStart } from '../core/decider/state.ts';
import type { Plan } from '../core/plan/plan.ts';
import { executionErrorSchema, NODE_STATUSES } from './execution.ts';
import { executionId, tenantId, timestamp } from './identifier.ts';
import { DEFAULT_PAGE, MAX_PAGE, queryNumber } from './page.ts';

export const journalQuery = z.object({
  after: queryNumber(-1, 999_999_999).optional().describe('transitions with a higher seq; without plan and start'),
  cursor: queryNumber(0, 999_999_999).optional().describe('the same, as `nextCursor` gives it'),
  limit: queryNumber(1, 2_000).default(1_000),
  tenantId: tenantId.optional(),
});

export const transitionSchema = z.object({
  seq: z.int().describe('the number of its first fact'),
  at: z.number().describe('milliseconds since the epoch'),
  facts: z.array(z.custom<Fact>()).describe('without the outputs of attempts'),
});

export const journalSchema = z
  .object({
    plan: z.custom<Plan>().optional().describe('the compiled plan; absent where `after` is given'),
    start: z.custom<ExecutionStart>().optional().describe('what the execution was started with'),
    transitions: z.array(transitionSchema),
    waits: z
      .array(z.object({ nodeId: z.string(), attempt: z.int(), waitedMs: z.int() }))
      .describe('how long attempts waited for a free place before they ran; only those that waited'),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'Journal' });

export type JournalJson = z.infer<typeof journalSchema>;
export type TransitionJson = z.infer<typeof transitionSchema>;

const attemptDetail = z.object({
  attempt: z.int(),
  status: z.enum(['Running', 'Succeeded', 'Failed', 'RetriableFailure', 'Cancelled', 'TimedOut']),
  parameters: z.unknown().optional(),
  outputs: z.unknown().optional(),
  error: executionErrorSchema.optional(),
  startedAt: timestamp.optional(),
  completedAt: timestamp.optional(),
  waitedMs: z.int().optional().describe('for a free place, before it ran'),
  truncated: z.literal(true).optional().describe('parameters and outputs would make the answer too large'),
  logs: z.array(z.object({ at: timestamp, level: z.string(), message: z.string(), data: z.unknown().optional() })),
});

export const nodeDetailSchema = z
  .object({
    nodeId: z.string(),
    type: z.string(),
    status: z.enum(NODE_STATUSES),
    reason: z.string().optional().describe('of a skipped node'),
    until: timestamp.optional(),
    childExecutionId: executionId.optional(),
    attempts: z.array(attemptDetail).describe('the newest 100, oldest first'),
    hasEarlier: z.boolean().describe('there are attempts before these'),
  })
  .meta({ id: 'NodeDetail' });

export const itemQuery = z.object({
  cursor: queryNumber(-1, 999_999_999).optional().describe('items after this index, as `nextCursor` gives it'),
  limit: queryNumber(1, MAX_PAGE).default(DEFAULT_PAGE),
  tenantId: tenantId.optional(),
});

const itemAttempt = {
  status: z.enum(['Succeeded', 'Failed', 'RetriableFailure', 'Cancelled', 'TimedOut']),
  attempt: z.int().describe('the last one that has ended'),
  outputs: z.unknown().optional(),
  error: executionErrorSchema.optional(),
  startedAt: timestamp.optional(),
  completedAt: timestamp.optional(),
};

export const itemSchema = z
  .object({
    index: z.int().describe('of the item, or the round'),
    ...z.object(itemAttempt).partial().shape,
    nodes: z
      .array(z.object({ nodeId: z.string(), ...itemAttempt }))
      .optional()
      .describe('of a loop with a body: each of its nodes'),
  })
  .meta({ id: 'LoopItem' });

export type ItemJson = z.infer<typeof itemSchema>;
export type NodeDetailJson = z.infer<typeof nodeDetailSchema>;
