// Task queues on the wire: what a worker in any language sends and gets.

import { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import { timestamp } from './identifier.ts';

/** Queue names are part of URLs. */
export const taskQueueName = z
  .string()
  .regex(/^[\w.@:-]{1,200}$/, 'must be letters, digits, "_", ".", "@", ":" or "-"');

const leaseId = z.uuid();
const leaseMs = z
  .int()
  .min(1_000)
  .max(600_000)
  .default(30_000)
  .describe('how long the attempt is yours without a heartbeat');
const label = z.string().min(1).max(200).optional();

export const pollRequestSchema = z
  .strictObject({
    worker: z.string().min(1).max(200).describe('what the worker is called in lists'),
    limit: z.int().min(1).max(100).default(1).describe('how many attempts it takes at once'),
    waitMs: z.int().min(0).max(30_000).default(0).describe('how long to wait when there is none'),
    leaseMs,
    workerPool: label.describe('takes only attempts that ask for this pool or for none'),
    runtime: label.describe('takes only attempts that ask for this runtime or for none'),
    resourceClass: label.describe('takes only attempts that ask for this class or for none'),
  })
  .meta({ id: 'TaskPoll' });

export const taskSchema = z
  .object({
    leaseId,
    leaseExpiresAt: timestamp,
    taskQueue: z.string(),
    executionId: z.uuid(),
    workflowId: z.string(),
    version: z.int(),
    environmentId: z.string(),
    nodeId: z.string(),
    actionType: z.string(),
    attempt: z.int(),
    mayHaveRun: z.boolean().describe('an earlier try may have had its effect'),
    parameters: z.unknown(),
    secretRefs: z
      .array(
        z.object({ provider: z.string(), key: z.string(), version: z.string().optional(), as: z.string().optional() }),
      )
      .optional()
      .describe('secrets that the step names; the worker resolves them, because values are never sent'),
    idempotencyKey: z.string().describe('the same in every try of the node'),
    timeoutMs: z.int().nullable(),
    correlationId: z.string(),
    traceparent: z.string().nullable(),
  })
  .meta({ id: 'Task' });

export const pollAnswerSchema = z.object({ tasks: z.array(taskSchema) });

export const heartbeatRequestSchema = z
  .strictObject({ leaseIds: z.array(leaseId).min(1).max(1_000), leaseMs })
  .meta({ id: 'TaskHeartbeat' });

export const heartbeatAnswerSchema = z.object({
  leases: z.array(
    z.object({
      leaseId,
      state: z
        .enum(['held', 'stop', 'lost'])
        .describe('stop: end the attempt and report what became of it; lost: it is not yours any more'),
      leaseExpiresAt: timestamp.optional(),
    }),
  ),
});

/** Any JSON. Not `z.json()`, because client generators cannot follow a recursive schema. */
const anyJson = z.unknown() as unknown as z.ZodType<Json, Json>;

export const completeRequestSchema = z
  .strictObject({
    leaseId,
    outputs: anyJson.optional().describe('the result of the attempt; may stand beside an error'),
    error: z
      .strictObject({
        code: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a code such as MODEL_FAILED'),
        message: z.string().max(10_000),
        retryable: z.boolean().optional().describe('by default it is not tried again'),
      })
      .optional(),
    retryAfterMs: z.int().min(0).max(86_400_000).optional(),
    logs: z
      .array(
        z.strictObject({
          at: timestamp.optional(),
          level: z.enum(['debug', 'info', 'warn', 'error']),
          message: z.string().max(10_000),
        }),
      )
      .max(1_000)
      .optional(),
  })
  .meta({ id: 'TaskResult' });

export const taskQueueSchema = z
  .object({
    taskQueue: z.string(),
    ready: z.int().describe('attempts that a worker could take now'),
    running: z.int(),
    oldestQueuedAt: timestamp.optional(),
    slots: z.int().describe('of all workers together'),
    workers: z.array(z.object({ worker: z.string(), slots: z.int(), busy: z.int(), seenAt: timestamp })),
  })
  .meta({ id: 'TaskQueue' });

export type PollRequest = z.input<typeof pollRequestSchema>;
export type TaskJson = z.infer<typeof taskSchema>;
export type HeartbeatRequest = z.input<typeof heartbeatRequestSchema>;
export type HeartbeatJson = z.infer<typeof heartbeatAnswerSchema>;
export type TaskResult = z.input<typeof completeRequestSchema>;
export type TaskQueueJson = z.infer<typeof taskQueueSchema>;
