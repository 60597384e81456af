// Workflows as the API shows them.

import type { z } from 'zod';
import type { Problem } from '../../core/definition/problem.ts';
import type { workflowSchema } from '../../protocol/workflow.ts';
import type { WorkflowRecord } from '../../store/workflow-port.ts';

type WireWorkflow = z.input<typeof workflowSchema>;

/** `definition`: as JSON text, where it was asked for. */
export function workflowView(
  workflow: WorkflowRecord,
  definition?: string,
  warnings: readonly Problem[] = [],
): WireWorkflow {
  const { workflowId, displayName, description, format, status, isEnabled, currentVersion, hasDraft } = workflow;
  return {
    id: workflowId,
    displayName,
    ...(description === null ? {} : { description }),
    format: format as WireWorkflow['format'],
    status,
    isEnabled,
    ...(currentVersion === null ? {} : { currentVersion }),
    hasDraft,
    ...(definition === undefined ? {} : { definition: JSON.parse(definition) as unknown }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    createdAt: isoTime(workflow.createdAt),
    updatedAt: isoTime(workflow.updatedAt),
  };
}

export const isoTime = (at: number): string => new Date(at).toISOString();
