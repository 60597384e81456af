// Task queues for workers in any language: take attempts, keep them, report them; and how full the queues are.

import { z } from 'zod';
import type { AttemptRequest } from '../../action/attempt.ts';
import {
  completeRequestSchema,
  heartbeatAnswerSchema,
  heartbeatRequestSchema,
  pollAnswerSchema,
  pollRequestSchema,
  type TaskJson,
  taskQueueName,
  taskQueueSchema,
} from '../../protocol/task-queue.ts';
import type { LeasedAttempt } from '../../store/task-queue-port.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const common = { tag: 'Task queues', method: 'POST', access: 'tasks:work', notFound: 'TASK_QUEUE_NOT_FOUND' } as const;
const params = z.object({ taskQueue: taskQueueName });

export function taskQueueRoutes({ taskQueues }: Pick<RouteParts, 'taskQueues'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      tag: 'Task queues',
      access: 'workflows:read',
      orScope: 'tasks:work',
      path: '/api/v1/task-queues',
      summary: 'Task queues: waiting attempts, running attempts, workers',
      query: z.strictObject({}),
      responses: { 200: z.object({ data: z.array(taskQueueSchema) }) },
      async handle({ caller: { tenantId } }) {
        const data = (await taskQueues.list(tenantId)).map(({ oldestQueuedAt, workers, ...queue }) => ({
          ...queue,
          ...(oldestQueuedAt === null ? {} : { oldestQueuedAt: isoTime(oldestQueuedAt) }),
          slots: workers.reduce((sum, { slots }) => sum + slots, 0),
          workers: workers.map((worker) => ({ ...worker, seenAt: isoTime(worker.seenAt) })),
        }));
        return { status: 200, body: { data } };
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/task-queues/:taskQueue/poll',
      summary: 'Take attempts from a queue, and optionally wait for one',
      params,
      body: pollRequestSchema,
      responses: { 200: pollAnswerSchema },
      unlimited: true,
      async handle({ params: { taskQueue }, body, caller: { tenantId }, signal, aside }) {
        const { waitMs, ...offer } = body;
        const poll = (wait: number) => taskQueues.poll({ ...offer, tenantId, taskQueue, waitMs: wait, signal });
        const taken = await ((waitMs === 0 ? null : aside(() => poll(waitMs))) ?? poll(0));
        return { status: 200, body: { tasks: taken.map(presentTask) } };
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/task-queues/:taskQueue/heartbeat',
      summary: 'Renew the leases of attempts, and learn which of them must stop',
      params,
      body: heartbeatRequestSchema,
      responses: { 200: heartbeatAnswerSchema },
      unlimited: true,
      async handle({ body: { leaseIds, leaseMs }, caller: { tenantId } }) {
        const held = await taskQueues.heartbeat(tenantId, leaseIds, leaseMs);
        const answers = new Map(held.map((answer) => [answer.leaseId, answer]));
        const leases = leaseIds.map((leaseId) => {
          const answer = answers.get(leaseId);
          if (answer === undefined) return { leaseId, state: 'lost' };
          return { leaseId, state: answer.isStopped ? 'stop' : 'held', leaseExpiresAt: isoTime(answer.leaseUntil) };
        });
        return { status: 200, body: { leases } };
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/task-queues/:taskQueue/complete',
      summary: 'Report the result of an attempt',
      params,
      body: completeRequestSchema,
      bodyIsPayload: true,
      responses: { 200: z.object({ executionId: z.uuid() }) },
      unlimited: true,
      async handle({ body: { leaseId, logs, ...result }, caller: { tenantId } }) {
        const lines = logs?.map(({ at, ...line }) => (at === undefined ? line : { ...line, at: Date.parse(at) }));
        const done = await taskQueues.complete(tenantId, leaseId, { ...result, logs: lines });
        return { status: 200, body: { executionId: done.executionId } };
      },
    }),
  ];
}

function presentTask({ leaseId, leaseUntil, taskQueue, request, takes, attempt, timeoutMs }: LeasedAttempt): TaskJson {
  const asked = JSON.parse(request) as Omit<AttemptRequest, 'signal'>;
  return {
    leaseId,
    leaseExpiresAt: isoTime(leaseUntil),
    taskQueue,
    executionId: asked.executionId,
    workflowId: asked.workflowId,
    version: asked.version,
    environmentId: asked.environmentId,
    nodeId: asked.nodeId,
    actionType: asked.actionType,
    attempt,
    mayHaveRun: takes > 1 || attempt > 1,
    parameters: asked.params,
    ...(asked.secretRefs === undefined ? {} : { secretRefs: [...asked.secretRefs] }),
    idempotencyKey: asked.idempotencyKey,
    timeoutMs,
    correlationId: asked.correlationId,
    traceparent: asked.traceparent,
  };
}
