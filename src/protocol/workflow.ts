// Workflows on the wire: camelCase, absent rather than null.

import { z } from 'zod';
import { oneOfFields } from './choice.ts';
import { problemSchema } from './error.ts';
import { EXECUTION_STATUSES } from './execution.ts';
import { executionId, label, tenantId, timestamp, workflowId } from './identifier.ts';
import { pageQuery, queryChoices, queryFlag, queryNumber } from './page.ts';
import { statPointSchema } from './statistics.ts';

const WORKFLOW_STATUSES = ['Draft', 'Active', 'Archived'] as const;
const FORMATS = ['graph', 'pipeline', 'plan'] as const;

const status = z.enum(WORKFLOW_STATUSES);

/** The name, or `wf_` and the uuid. */
export const workflowParams = z.object({ workflowId });

const UID = /^wf_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

export function workflowRef(text: string): { workflowId: string } | { uid: string } {
  const parts = UID.exec(text);
  return parts === null ? { workflowId: text } : { uid: parts.slice(1).join('-') };
}

export const prefixedId = (prefix: 'wf' | 'run', uuid: string): string => `${prefix}_${uuid.replaceAll('-', '')}`;

export const workflowSchema = z
  .object({
    id: workflowId,
    displayName: z.string(),
    description: z.string().optional(),
    format: z.enum(FORMATS),
    status,
    isEnabled: z.boolean(),
    currentVersion: z.int().optional(),
    hasDraft: z.boolean(),
    definition: z.unknown().optional(),
    warnings: z
      .array(problemSchema)
      .optional()
      .describe('of one workflow: actions that are deprecated or disabled, fields that mean nothing'),
    checksum: z.string().optional().describe('of the definition that is shown; `If-Match` of the next save'),
    lastExecution: z
      .object({ executionId, status: z.enum(EXECUTION_STATUSES), createdAt: timestamp })
      .optional()
      .describe('the newest'),
    stats: z.array(statPointSchema).optional().describe('of the last 24 hours, hour by hour (`include=stats`)'),
    nextFireAt: timestamp.optional().describe('of its schedules: the next'),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Workflow' });

export const validationSchema = z
  .object({
    ok: z.boolean(),
    format: z.enum(FORMATS).optional().describe('absent: it is of no format'),
    problems: z.array(problemSchema).describe('all of them; warnings have `severity: warning`'),
  })
  .meta({ id: 'Validation' });

export const publicationSchema = z
  .object({ workflowId, version: z.int(), status, warnings: z.array(problemSchema).optional() })
  .meta({ id: 'Publication' });

export const workflowStateSchema = z.object({ workflowId, status }).meta({ id: 'WorkflowState' });

export const workflowListQuery = z.object({
  status: status.optional(),
  isEnabled: queryFlag.optional(),
  format: z.enum(FORMATS).optional(),
  search: label(200).optional().describe('in the id, the display name or the description'),
  include: queryChoices(['stats']).default([]).describe('stats: the last 24 hours, hour by hour'),
  tenantId: tenantId.optional().describe("must be the token's"),
  ...pageQuery,
});

const versionName = z
  .string()
  .regex(/^(draft|[1-9]\d{0,8})$/, 'must be a version, or `draft`')
  .transform((text) => (text === 'draft' ? ('draft' as const) : Number(text)));

export const versionQuery = z.object({ version: versionName.optional() });

export const versionListQuery = z.object({
  limit: pageQuery.limit,
  cursor: queryNumber(1, 999_999_999).optional(),
});

export const publishQuery = z.object({
  autoActivate: queryFlag.default(true).describe('false: make the version, but do not activate it'),
});

export const versionSchema = z
  .object({
    version: z.int(),
    checksum: z.string(),
    isCurrent: z.boolean(),
    live: z.int().describe('executions of this version that have not ended; of 10,000 live ones in all'),
    createdAt: timestamp,
  })
  .meta({ id: 'WorkflowVersion' });

export const diffQuery = z.object({
  from: versionName.optional().describe('by default the current version'),
  to: versionName.optional().describe('by default the draft'),
});

export const diffSchema = z
  .object({
    workflowId,
    from: z.union([z.int(), z.literal('draft')]),
    to: z.union([z.int(), z.literal('draft')]),
    changes: z.array(
      z.object({
        op: z.enum(['add', 'remove', 'replace', 'move']),
        path: z.string().describe('JSON pointer: of a removal into `from`, otherwise into `to`'),
        from: z.string().optional().describe('of a move: where it was'),
        before: z.unknown().optional(),
        after: z.unknown().optional(),
      }),
    ),
  })
  .meta({ id: 'WorkflowDiff' });

export const workflowPatch = z
  .strictObject({ isEnabled: z.boolean().optional(), enabled: z.boolean().optional() })
  .refine(({ isEnabled, enabled }) => (isEnabled === undefined) !== (enabled === undefined), {
    error: 'say `isEnabled` (of a pipeline: `enabled`), true or false',
  })
  .meta(oneOfFields('isEnabled', 'enabled'));
