// The three formats as JSON Schema, for editors, the API's reference and other languages. Shape only, as far as JSON Schema can
// express it; compileDefinition checks more.

import { z } from 'zod';
import type { Format } from '../plan/plan.ts';
import { graphSchema } from './graph-schema.ts';
import { pipelineSchema } from './pipeline-schema.ts';
import { planSchema } from './plan-schema.ts';

const SCHEMAS: Readonly<Record<Format, z.ZodType>> = { graph: graphSchema, pipeline: pipelineSchema, plan: planSchema };

export function definitionJsonSchema(format: Format): object {
  return z.toJSONSchema(SCHEMAS[format], { io: 'input' });
}
