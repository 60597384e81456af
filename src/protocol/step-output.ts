// The result of a step of an execution plan: how it ended, and pointers to everything that is too large for a result.

import { z } from 'zod';
import { ERROR_CATEGORIES } from '../core/error/category.ts';
import { timestamp } from './identifier.ts';

export const ARTIFACT_KINDS = ['dbt-manifest', 'dbt-run-results', 'log-bundle', 'dataset-sample', 'custom'] as const;

export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

export const artifactRefSchema = z
  .strictObject({
    uri: z.string().min(1).describe('`pawl:artifacts/{id}`, or where another store keeps it'),
    kind: z.enum(ARTIFACT_KINDS),
    sha256: z.string().optional(),
    sizeBytes: z.int().min(0).optional(),
    contentType: z.string().optional(),
    expiresAt: timestamp.optional(),
  })
  .meta({ id: 'ArtifactRef' });

export type ArtifactRef = z.infer<typeof artifactRefSchema>;

const executionMetricsSchema = z.strictObject({
  startedAt: timestamp,
  finishedAt: timestamp,
  durationMs: z.number().min(0),
  rowsRead: z.number().min(0).optional(),
  rowsWritten: z.number().min(0).optional(),
  bytesProcessed: z.number().min(0).optional(),
  costUnits: z.number().min(0).optional(),
});

export const stepOutputSchema = z
  .strictObject({
    status: z.enum(['SUCCESS', 'FAILED', 'SKIPPED']),
    artifactRefs: z.array(artifactRefSchema),
    metadata: z.record(z.string(), z.json()),
    metrics: executionMetricsSchema.optional(),
    error: z
      .strictObject({
        category: z.enum(ERROR_CATEGORIES),
        code: z.string().optional(),
        message: z.string(),
        retryable: z.boolean().optional(),
      })
      .optional(),
  })
  .meta({ id: 'StepOutput' });

export type StepOutput = z.infer<typeof stepOutputSchema>;

/** An artifact as the API lists it. */
export const artifactSchema = z
  .object({
    artifactId: z.uuid(),
    executionId: z.uuid(),
    nodeId: z.string(),
    attempt: z.int(),
    name: z.string(),
    uri: z.string(),
    kind: z.enum(ARTIFACT_KINDS),
    contentType: z.string(),
    sizeBytes: z.int(),
    sha256: z.string(),
    createdAt: timestamp,
    expiresAt: timestamp.optional(),
  })
  .meta({ id: 'Artifact' });

export type ArtifactJson = z.infer<typeof artifactSchema>;
