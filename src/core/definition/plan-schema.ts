// ExecutionPlan v1 and v2. Shape only; execution-plan.ts checks what names refer to.

import { z } from 'zod';
import { DEFAULT_MAX_ITEMS, DEFAULT_PARALLEL } from './defaults.ts';
import { tolerate } from './graph-schema.ts';
import { MAX_ID_LENGTH, MAX_ITEMS, MAX_PARALLEL } from './limits.ts';

const name = z.string().min(1).max(MAX_ID_LENGTH);

const secretRef = z.strictObject({
  provider: name.meta({
    description: 'A keeper of secrets: table, environment, file, vault, aws-sm, gcp-sm, azure-kv, or your own.',
  }),
  key: name,
  version: name.optional(),
  as: name
    .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, { error: 'must be names with dots between them' })
    .optional()
    .meta({
      description:
        'Where the value stands in the inputs of the attempt, such as env.DBT_PASSWORD. By default at the key.',
    }),
});

const dispatch = z.strictObject({
  taskQueue: name.optional(),
  workerPool: name.optional(),
  runtime: name.optional(),
  resourceClass: name.optional(),
});

const dependency = z.strictObject({
  stepId: name,
  when: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Judged when that step has succeeded. Unless it holds, this step is skipped.' }),
});

const hook = z.strictObject({
  type: name.meta({ description: 'The action that is called.' }),
  inputs: z.record(z.string(), z.unknown()).optional().meta({
    description: 'What it is given; strings may hold {{ expressions }} over `step`, `run` and `outcome`.',
  }),
});

const hooks = z.strictObject({ preStep: hook.optional(), postStep: hook.optional() });

const step = z.strictObject({
  stepId: name,
  type: name.meta({ description: 'The action, e.g. DBT_RUN.' }),
  inputs: z.record(z.string(), z.unknown()).meta({
    description: 'References and values for the step; strings may hold {{ expressions }}. Never a secret.',
  }),
  timeout: z.union([z.int().min(1), z.string()], { error: 'must be milliseconds, or a duration such as "10m"' }).meta({
    description: 'Per attempt: milliseconds, or "10m".',
  }),
  retryPolicyRef: name.optional().meta({ description: 'A retry policy of the configuration, by name.' }),
  dependsOn: z.array(z.union([z.string(), dependency], { error: 'must be a stepId, or { stepId, when }' })).optional(),
  observabilityTags: z.record(z.string(), z.unknown()).optional(),
  dispatch: dispatch.optional(),
  hooks: hooks.optional().meta({
    description: 'Schema version 2: actions that every attempt calls before and after. Instead of those of the plan.',
  }),
  when: z
    .strictObject({
      expression: z.string().min(1),
      on: z.string().min(1).optional().meta({ description: 'e.g. compile.output.metadata.changed; seen as `on`.' }),
    })
    .optional()
    .meta({ description: 'The step is skipped unless the expression holds.' }),
  foreach: z
    .strictObject({
      from: z.string().min(1).meta({
        description:
          'A path to a list, e.g. compile.output.models, or to an artifact that holds one, e.g. list.output.artifactRefs[0].',
      }),
      itemVar: z.literal('item').optional().meta({ description: 'What the item is called; always `item`.' }),
      parallel: z.int().min(1).max(MAX_PARALLEL).optional().meta({ default: DEFAULT_PARALLEL }),
      maxItems: z.int().min(1).max(MAX_ITEMS).optional().meta({ default: DEFAULT_MAX_ITEMS }),
      tolerate: tolerate.optional(),
    })
    .optional()
    .meta({ description: 'Runs the step for each item of a list.' }),
  secretRefs: z.array(secretRef).max(50).optional().meta({
    description:
      'Secrets by reference. The attempt resolves them and adds them to its inputs; nothing stores their values.',
  }),
  pluginId: name.optional(),
  pluginVersion: name.optional(),
  pluginDigest: name.optional(),
  inputSchemaRef: name.optional(),
  outputSchemaRef: name.optional(),
  pluginVersionPolicy: z.record(z.string(), z.unknown()).optional().meta({
    description: 'How the planner chose the version. Recorded, not acted upon.',
  }),
});

export const planSchema = z
  .strictObject({
    $schema: z.string().optional(),
    schemaVersion: z.enum(['v1', 'v2']).optional(),
    metadata: z.strictObject({
      planId: name,
      planVersion: name,
      createdAt: z.iso.datetime({ offset: true, error: 'must be a time such as 2026-02-22T10:00:00Z' }),
      createdBy: z.string().min(1),
      schemaVersion: z.enum(['v1', 'v2']),
    }),
    scope: z.strictObject({ tenantId: name, projectId: name, environmentId: name, repoSha: z.string() }),
    steps: z.array(step).min(1),
    hooks: hooks.optional().meta({ description: 'Schema version 2: for every step that has none of its own.' }),
    driver: z.enum(['native', 'temporal', 'conductor']).optional().meta({
      description: 'What runs it. By default what the environment or the installation says.',
    }),
  })
  .meta({ title: 'Pawl execution plan' });
