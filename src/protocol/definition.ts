// Definitions as request bodies, as the API describes them. The compilers check them.

import { z } from 'zod';
import { graphSchema } from '../core/definition/graph-schema.ts';
import { pipelineSchema } from '../core/definition/pipeline-schema.ts';
import { planSchema } from '../core/definition/plan-schema.ts';
import { machineSchema, policiesSchema } from '../lifecycle/machine/definition-schema.ts';

export const pipelineShape = pipelineSchema.meta({ id: 'PipelineDefinition' });

export const definitionShape = z.union([
  graphSchema.meta({ id: 'GraphDefinition' }),
  pipelineShape,
  planSchema.meta({ id: 'PlanDefinition' }),
]);

export const machineShape = machineSchema.meta({ id: 'LifecycleDefinition' });
export const policiesShape = policiesSchema.meta({ id: 'LifecyclePolicies' });
