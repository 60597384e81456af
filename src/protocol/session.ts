// The caller as the server sees the token or key. A client can show it and disable buttons.

import { z } from 'zod';
import { timestamp } from './identifier.ts';
import { ROLES, SCOPES } from './scope.ts';

export const sessionSchema = z
  .object({
    mode: z.enum(['strict', 'loose']),
    tenantId: z.string(),
    subject: z.string().describe("the token's `sub`, or the name of the API key"),
    scopes: z.array(z.enum(SCOPES)),
    roles: z.array(z.enum(ROLES)),
    expiresAt: timestamp.optional(),
    version: z.string().describe("the server's"),
  })
  .meta({ id: 'Session' });

export type SessionJson = z.infer<typeof sessionSchema>;
