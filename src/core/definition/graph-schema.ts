// Graph workflows, as 000 §4.1 has them, plus what other sections give a workflow of its own: `timeoutMs` (§10.1),
// `outputs`, `vars` (§5.2) and `snapshot` (§8.4). Shape only; what names refer to is checked after it, in graph.ts.

import { z } from 'zod';
import { ATTEMPT_TIMEOUT_MS, DEFAULT_RETRY, DEFAULT_SNAPSHOT, GRAPH_TIMEOUT_MS } from './defaults.ts';
import { MAX_ID_LENGTH } from './limits.ts';

const nodeId = z.string().min(1).max(MAX_ID_LENGTH);

const retry = z.strictObject({
  maxAttempts: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Tries in all; 0 and 1 mean no retry.', default: DEFAULT_RETRY.maxAttempts }),
  baseDelayMs: z.int().min(0).optional().meta({ default: DEFAULT_RETRY.baseDelayMs }),
  backoffFactor: z.number().min(1).optional().meta({ default: DEFAULT_RETRY.backoffFactor }),
  jitter: z.boolean().optional().meta({ default: DEFAULT_RETRY.jitter }),
});

const policies = z.strictObject({
  timeoutMs: z.int().min(1).optional().meta({ description: 'Per attempt.', default: ATTEMPT_TIMEOUT_MS }),
  rerenderOnRetry: z.boolean().optional().meta({
    description: 'If true, parameters re-render on each retry; if false, the first render is reused.',
    default: false,
  }),
  retry: retry.optional(),
});

const edge = z.strictObject({
  targetNode: nodeId,
  when: z.enum(['success', 'failure', 'always']).optional().meta({ default: 'success' }),
  condition: z.string().min(1).optional().meta({ description: 'A JavaScript expression over the execution.' }),
});

const node = z.strictObject({
  id: nodeId,
  nodeType: z.enum(['action', 'subworkflow']).optional().meta({ default: 'action' }),
  actionType: z.string().min(1).optional().meta({ description: "Required of an action, e.g. 'monday.get-items'." }),
  workflowId: z.string().min(1).optional().meta({ description: 'Required of a subworkflow: the workflow to invoke.' }),
  workflowVersion: z.int().min(1).optional().meta({ description: 'If omitted, the current version.' }),
  waitForCompletion: z.boolean().optional().meta({
    description: 'If false, the node succeeds as soon as the subworkflow is started.',
    default: true,
  }),
  parameters: z.record(z.string(), z.unknown()).optional().meta({
    description: 'Given to the action or the subworkflow. Strings may hold {{ expressions }}.',
  }),
  onFailure: nodeId.optional().meta({ description: 'Runs if this node fails and no explicit failure edge matches.' }),
  routePolicy: z.enum(['parallel', 'firstMatch']).optional().meta({
    description: 'parallel: every satisfied edge is taken; firstMatch: the first satisfied edge only.',
    default: 'parallel',
  }),
  policies: policies.optional(),
  edges: z.array(edge).optional(),
});

const snapshot = z.strictObject({
  mode: z.enum(['Full', 'SummaryOnly', 'KeysOnly']).optional().meta({ default: DEFAULT_SNAPSHOT.mode }),
  keysToInclude: z.array(nodeId).optional(),
  maxContextSizeBytes: z.int().min(1).optional().meta({ default: DEFAULT_SNAPSHOT.maxContextSizeBytes }),
  overflowBehavior: z
    .enum(['Fail', 'AutoPruneOldest', 'DropOversize'])
    .optional()
    .meta({ default: DEFAULT_SNAPSHOT.overflowBehavior }),
});

export const graphSchema = z
  .strictObject({
    $schema: z.string().optional(),
    id: z
      .string()
      .max(MAX_ID_LENGTH)
      .regex(/^[a-z0-9-]+$/, { error: 'must be lower-case letters, digits and hyphens' }),
    displayName: z.string(),
    description: z.string().optional(),
    startNode: nodeId,
    triggerSchema: z.record(z.string(), z.unknown()).optional().meta({
      description: 'JSON Schema that a trigger payload must match.',
    }),
    timeoutMs: z.int().min(1).optional().meta({ description: 'Of the whole execution.', default: GRAPH_TIMEOUT_MS }),
    outputs: z.record(z.string(), z.unknown()).optional().meta({
      description:
        'What the execution returns; strings may hold {{ expressions }}. Default: the outputs of its end nodes.',
    }),
    vars: z.record(z.string(), z.unknown()).optional().meta({ description: 'Constants, visible as `vars`.' }),
    snapshot: snapshot.optional(),
    nodes: z.array(node).min(1),
  })
  .meta({ title: 'Pawl graph workflow' });
