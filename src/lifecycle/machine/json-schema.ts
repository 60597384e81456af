// Both formats as JSON Schema, for editors, the API's reference and other languages. Shape only, as far as JSON Schema can
// express it; compileLifecycle checks more.

import { z } from 'zod';
import { machineSchema, policiesSchema } from './definition-schema.ts';

const SCHEMAS = { lifecycle: machineSchema, policies: policiesSchema } as const;

export function lifecycleJsonSchema(format: keyof typeof SCHEMAS): object {
  return z.toJSONSchema(SCHEMAS[format], { io: 'input' });
}
