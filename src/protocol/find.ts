// The search for a pasted id, requestId or reference, on the wire.

import { z } from 'zod';
import { label, tenantId } from './identifier.ts';

export const findQuery = z.object({
  text: label(300).regex(/\S/, 'must not be blank').trim(),
  tenantId: tenantId.optional(),
});

export const FOUND_KINDS = ['execution', 'workflow', 'trigger', 'instance', 'message', 'consumer', 'bulk'] as const;

export const foundSchema = z
  .object({
    kind: z.enum(FOUND_KINDS),
    id: z.string().describe('of an instance: env/name/externalRef'),
    title: z.string(),
  })
  .meta({ id: 'Found' });

export type FoundJson = z.infer<typeof foundSchema>;
