// The driver of an execution, and the driver's name for the run.

import { z } from 'zod';
import { executionId } from './identifier.ts';

export const DRIVERS = ['native', 'temporal', 'conductor'] as const;

export const driverSchema = z.enum(DRIVERS).meta({ id: 'Driver' });

export type Driver = z.infer<typeof driverSchema>;

/** The name of an execution in the engine that runs it. */
export const engineRunRefSchema = z
  .discriminatedUnion('provider', [
    z.object({
      provider: z.literal('native'),
      namespace: z.string().describe('the tenant'),
      workflowId: z.string().describe('the execution'),
      runId: z.string().optional(),
      taskQueue: z.string().optional(),
      executionId,
    }),
    z.object({
      provider: z.literal('temporal'),
      namespace: z.string(),
      workflowId: z.string(),
      runId: z.string().optional(),
      taskQueue: z.string().optional(),
    }),
    z.object({
      provider: z.literal('conductor'),
      workflowId: z.string(),
      runId: z.string().optional(),
      taskQueue: z.string().optional(),
      conductorUrl: z.string().optional(),
    }),
  ])
  .meta({ id: 'EngineRunRef' });

export type EngineRunRef = z.infer<typeof engineRunRefSchema>;

/** Parses the reference as it is stored with the execution. */
export function parseRef(text: string): EngineRunRef {
  return engineRunRefSchema.parse(JSON.parse(text));
}

export function nativeRef(tenantId: string, id: string): EngineRunRef {
  return { provider: 'native', namespace: tenantId, workflowId: id, runId: id, executionId: id };
}
