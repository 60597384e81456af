// Both formats as JSON Schema: for editors, for the API's reference and for other languages. Shape only, as far as JSON Schema
// can say it; what compileLifecycle checks beyond that is in its messages.

import { z } from 'zod';
import { machineSchema, policiesSchema } from './definition-schema.ts';

const SCHEMAS = { lifecycle: machineSchema, policies: policiesSchema } as const;

export function lifecycleJsonSchema(format: keyof typeof SCHEMAS): object {
  return z.toJSONSchema(SCHEMAS[format], { io: 'input' });
}
