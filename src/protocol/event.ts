// The events of executions: one envelope, the seven types of docs/execution-events.md, and the alert that an operator escalates.
// contracts/events/*.v1.schema.json are generated from this file and are the contract: a major version only gains fields, so
// readers must ignore unknown ones.

import { z } from 'zod';
import { ERROR_CATEGORIES } from '../core/error/category.ts';
import { driverSchema } from './driver.ts';

const OUTSIDE = ['temporal', 'conductor'] as const;
const text = z.string();
const time = z.iso.datetime();

const engineRunRef = z.union([
  z.looseObject({ provider: z.literal('native'), executionId: text }),
  z.looseObject({
    provider: z.literal('temporal'),
    namespace: text,
    workflowId: text,
    runId: text.optional(),
    taskQueue: text.optional(),
  }),
  z.looseObject({
    provider: z.literal('conductor'),
    workflowId: text,
    runId: text.optional(),
    conductorUrl: text.optional(),
  }),
  z
    .looseObject({ provider: z.enum(OUTSIDE), executionId: text })
    .describe('of an execution that was not handed over yet when the event was published'),
]);

const error = z.looseObject({ category: z.enum(ERROR_CATEGORIES), code: text, message: text, stepId: text.optional() });
const stepType = text.describe('what kind of step it is: the type of its action');

function envelope<Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) {
  return {
    schemaVersion: z.literal('v1'),
    eventId: z.uuid().describe('the ackGuid of its delivery; the same on every attempt'),
    eventType: z.literal(type),
    occurredAt: time,
    tenantId: text,
    projectId: text,
    environmentId: text,
    runId: text.describe('of an execution plan the runId it was started with, otherwise the id of the execution'),
    attemptId: text.describe(
      'which attempt of the step; of a run event: 1 and one more for every time it was reopened',
    ),
    idempotencyKey: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe(
        'sha256, in hex, of runId|stepId|attemptId|eventType|planVersion; the type in lower case, what is absent empty',
      ),
    driver: driverSchema.optional().describe('what runs the execution; absent in events of earlier versions'),
    engineRunRef,
    sequence: z.int().min(0).describe('rises within a run, with gaps'),
    workflowId: text,
    planVersion: z
      .union([z.int().min(0), text])
      .describe("of an execution plan its planner's planVersion, otherwise the number of the workflow's version"),
    correlationId: text,
    payload,
  };
}

const runEvent = <Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) =>
  z.looseObject(envelope(type, payload));

const stepEvent = <Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) =>
  z.looseObject({ ...envelope(type, payload), stepId: text });

const runStarted = z.looseObject({
  reopened: z.boolean().describe('it had ended before'),
  deadline: time.optional(),
});
const stepStarted = z.looseObject({
  stepType,
  waitsFor: z.enum(['timer', 'webhook']).optional(),
  until: time.optional(),
  childRunId: text.optional(),
});
const stepCompleted = z.looseObject({ stepType, outputBytes: z.int().min(0) });
const stepFailed = z.looseObject({
  stepType,
  error,
  timedOut: z.boolean(),
  cancelled: z.boolean(),
  retryAt: time.optional().describe('there will be another attempt'),
});
const runFailed = z.looseObject({ error, timedOut: z.boolean() });
const alertEscalated = z.looseObject({
  signalId: text.describe('of the signal; its attemptId too'),
  level: z.enum(['LOW', 'MEDIUM', 'HIGH']),
  note: text.optional(),
});

export const EXECUTION_EVENTS = {
  RunStarted: runEvent('RunStarted', runStarted),
  StepStarted: stepEvent('StepStarted', stepStarted),
  StepCompleted: stepEvent('StepCompleted', stepCompleted),
  StepFailed: stepEvent('StepFailed', stepFailed),
  RunCompleted: runEvent('RunCompleted', z.looseObject({})),
  RunFailed: runEvent('RunFailed', runFailed),
  RunCancelled: runEvent('RunCancelled', z.looseObject({ error })),
  AlertEscalated: runEvent('AlertEscalated', alertEscalated),
} as const;

export type ExecutionEventType = keyof typeof EXECUTION_EVENTS;
export const EXECUTION_EVENT_TYPES = Object.keys(EXECUTION_EVENTS) as ExecutionEventType[];

export type PublishedEvent = {
  [Type in ExecutionEventType]: z.output<(typeof EXECUTION_EVENTS)[Type]>;
}[ExecutionEventType];

/** `StepStarted` → `step_started.v1.schema.json`, with its content. */
export function eventSchemaFiles(): { readonly name: string; readonly schema: object }[] {
  return EXECUTION_EVENT_TYPES.map((type) => ({
    name: `${type.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()}.v1.schema.json`,
    schema: { ...z.toJSONSchema(EXECUTION_EVENTS[type]), title: type },
  }));
}
