// Workflows as the API shows them.

import type { z } from 'zod';
import type { Problem } from '../../core/problem/problem.ts';
import type { workflowSchema } from '../../protocol/workflow.ts';
import type { WorkflowActivity, WorkflowRecord } from '../../store/workflow-port.ts';
import { isoTime } from './field.ts';

type WireWorkflow = z.input<typeof workflowSchema>;

/** `definition`: as JSON text, where it was asked for. */
export function presentWorkflow(
  workflow: WorkflowRecord,
  definition?: string,
  warnings: readonly Problem[] = [],
  checksum?: string,
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
    ...(checksum === undefined ? {} : { checksum }),
    createdAt: isoTime(workflow.createdAt),
    updatedAt: isoTime(workflow.updatedAt),
  };
}

export const presentActivity = ({ lastExecution, nextFireAt }: WorkflowActivity) => ({
  ...(lastExecution === null
    ? {}
    : {
        lastExecution: {
          executionId: lastExecution.executionId,
          status: lastExecution.status as NonNullable<WireWorkflow['lastExecution']>['status'],
          createdAt: isoTime(lastExecution.createdAt),
        },
      }),
  ...(nextFireAt === null ? {} : { nextFireAt: isoTime(nextFireAt) }),
});

/** As `If-Match` has it. */
export const etagOf = (checksum: string): Record<string, string> => ({ etag: `"${checksum}"` });
