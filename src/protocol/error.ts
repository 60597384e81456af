// The one shape of every refusal.

import { z } from 'zod';

export const problemSchema = z.object({
  code: z.string(),
  path: z.string().describe('JSON pointer into what was sent'),
  message: z.string(),
  suggestion: z.string().optional(),
  line: z.number().optional(),
  column: z.number().optional(),
  severity: z.literal('warning').optional(),
});

export const errorEnvelopeSchema = z
  .object({
    error: z.object({
      code: z.string(),
      name: z.string().optional().describe('what a WFENG code is called, such as VALIDATION_ERROR'),
      message: z.string(),
      correlationId: z.string(),
      timestamp: z.string(),
      details: z.unknown().optional().describe('problems, where there can be several'),
    }),
  })
  .meta({ id: 'ErrorEnvelope' });

export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;
