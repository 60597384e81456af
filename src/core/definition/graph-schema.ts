// Graph workflows, with the workflow's own fields: `timeoutMs`, `outputs`, `vars` and `snapshot`. Shape only; graph.ts checks
// what names refer to.

import { z } from 'zod';
import { DURATION, DURATION_FORMS, parseDuration } from '../duration/duration.ts';
import { DEFAULT_COMPENSATION_MS } from '../plan/plan.ts';
import {
  ATTEMPT_TIMEOUT_MS,
  DEFAULT_MAX_ITEMS,
  DEFAULT_MAX_ROUNDS,
  DEFAULT_PARALLEL,
  DEFAULT_RETRY,
  DEFAULT_SNAPSHOT,
  GRAPH_TIMEOUT_MS,
} from './defaults.ts';
import {
  MAX_BODY_NODES,
  MAX_FILE_TRIGGERS,
  MAX_ID_LENGTH,
  MAX_ITEMS,
  MAX_PARALLEL,
  MAX_ROUNDS,
  MAX_VERSION,
} from './limits.ts';

const TOLERATE = 'must be a number of items, or a share from "0%" to "100%"';

export const tolerate = z.union([z.int().min(0), z.string().regex(/^(\d{1,2}|100)%$/, { error: TOLERATE })], {
  error: TOLERATE,
});

/** Milliseconds as a number, or a duration as text. */
export const milliseconds = (least: 0 | 1) =>
  z.union(
    [
      z.int().min(least),
      z
        .string()
        .regex(DURATION, { error: `is not a duration: write ${DURATION_FORMS}` })
        .refine((text) => isDuration(text, least), { error: 'is too short or too long: at most ten years' }),
    ],
    { error: `must be whole milliseconds, or a duration such as "30s"` },
  );

const isDuration = (text: string, least: number): boolean => {
  const ms = parseDuration(text);
  return ms === null ? !DURATION.test(text) : ms >= least;
};

export const connectionName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, { error: 'must be the name of a connection' });

const nodeId = z.string().min(1).max(MAX_ID_LENGTH);

const retryFields = {
  maxAttempts: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Tries in all; 0 and 1 mean no retry.', default: DEFAULT_RETRY.maxAttempts }),
  baseDelayMs: milliseconds(0).optional().meta({ default: DEFAULT_RETRY.baseDelayMs }),
  backoffFactor: z.number().min(1).optional().meta({ default: DEFAULT_RETRY.backoffFactor }),
  maxDelayMs: milliseconds(0).optional().meta({ description: 'No delay is longer.' }),
  jitter: z.boolean().optional().meta({ default: DEFAULT_RETRY.jitter }),
};

const errorCodes = z.array(z.string().min(1)).min(1).meta({
  description:
    'Codes of errors, e.g. "NETWORK_ERROR", "HTTP_503", "HTTP_5XX", "TIMEOUT", "NETWORK", or "*" for every one.',
});

const retry = z.union(
  [z.strictObject(retryFields), z.array(z.strictObject({ on: errorCodes, ...retryFields })).min(1)],
  {
    error: 'must be { "maxAttempts": … }, or a list of those with "on": […]',
  },
);

const policies = z.strictObject({
  timeoutMs: milliseconds(1).optional().meta({ description: 'Per attempt.', default: ATTEMPT_TIMEOUT_MS }),
  rerenderOnRetry: z.boolean().optional().meta({
    description: 'If true, parameters re-render on each retry; if false, the first render is reused.',
    default: false,
  }),
  retry: retry.optional().meta({
    description: 'One policy for every error, or a list by code: the first entry that matches counts.',
  }),
});

const edge = z.strictObject({
  targetNode: nodeId,
  when: z.enum(['success', 'failure', 'always']).optional().meta({ default: 'success' }),
  condition: z.string().min(1).optional().meta({ description: 'A JavaScript expression over the execution.' }),
  codes: errorCodes.optional().meta({ description: 'With "when": "failure": the errors that this edge is for.' }),
});

const join = z.union(
  [
    z.enum(['any', 'all']),
    z.strictObject({
      first: z.int().min(1).meta({ description: 'The node starts as soon as this many edges are satisfied.' }),
      cancelRest: z.boolean().optional().meta({ description: 'Cancel what leads only here.', default: false }),
    }),
  ],
  { error: 'must be "any", "all" or { "first": 1 }' },
);

export const eventSources = z
  .array(
    z.strictObject({
      type: z.string().min(1).max(MAX_ID_LENGTH),
      key: z.union([z.string(), z.number(), z.boolean()]).optional().meta({
        description: 'The value that the event must have at `at`. May hold {{ expressions }}.',
      }),
      at: z
        .string()
        .min(1)
        .max(MAX_ID_LENGTH)
        .optional()
        .meta({ description: 'A path into the data of the event, e.g. "orderId".' }),
    }),
  )
  .min(1)
  .max(20);

const nodeFields = {
  id: nodeId,
  nodeType: z.enum(['action', 'subworkflow', 'wait', 'end']).optional().meta({ default: 'action' }),
  callback: z
    .boolean()
    .optional()
    .meta({ description: 'Of a wait: a call of `wait.<id>.url` ends it.', default: false }),
  events: eventSources.optional().meta({ description: 'Of a wait: an event of one of these ends it.' }),
  timeoutMs: milliseconds(1).optional().meta({ description: 'Of a wait: how long; without it, for ever.' }),
  onTimeout: z.enum(['fail', 'continue']).optional().meta({ description: 'Of a wait.', default: 'fail' }),
  count: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: 'Of a wait: how many arrivals it takes.', default: 1 }),
  until: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Of a wait: an expression over `events`, what came so far.' }),
  actionType: z.string().min(1).optional().meta({ description: "Required of an action, e.g. 'monday.get-items'." }),
  workflowId: z.string().min(1).optional().meta({ description: 'Required of a subworkflow: the workflow to invoke.' }),
  workflowVersion: z.int().min(1).max(MAX_VERSION).optional().meta({ description: 'If omitted, the current version.' }),
  waitForCompletion: z.boolean().optional().meta({
    description: 'If false, the node succeeds as soon as the subworkflow is started.',
    default: true,
  }),
  parameters: z.record(z.string(), z.unknown()).optional().meta({
    description: 'Given to the action or the subworkflow. Strings may hold {{ expressions }}.',
  }),
  connection: connectionName.optional().meta({
    description: 'The connection whose credential the action uses; absent: the default of its connector.',
  }),
  status: z.enum(['Succeeded', 'Failed']).optional().meta({
    description: 'Of an end node: how the execution ends.',
    default: 'Succeeded',
  }),
  outputs: z.record(z.string(), z.unknown()).optional().meta({
    description: 'Of an end node: what the execution returns. Strings may hold {{ expressions }}.',
  }),
  error: z
    .strictObject({ code: z.string().min(1), message: z.string().optional() })
    .optional()
    .meta({ description: 'Of an end node that fails: the error of the execution. Both may hold {{ expressions }}.' }),
  join: join.optional().meta({
    description:
      'With several incoming edges: "any" needs one that is satisfied, "all" every one; "first" starts without waiting for the others.',
    default: 'any',
  }),
  onFailure: nodeId.optional().meta({ description: 'Runs if this node fails and no explicit failure edge matches.' }),
  routePolicy: z.enum(['parallel', 'firstMatch']).optional().meta({
    description: 'parallel: every satisfied edge is taken; firstMatch: the first satisfied edge only.',
    default: 'parallel',
  }),
  policies: policies.optional(),
  edges: z.array(edge).optional(),
};

const forEach = z.strictObject({
  items: z
    .union([z.string().min(1), z.array(z.unknown())], {
      error: 'must be a {{ template }} that gives a list, or a list',
    })
    .meta({
      description:
        'The list, rendered once when the node starts. `item` and `index` can be read in `parameters` or in the body.',
    }),
  parallel: z.int().min(1).max(MAX_PARALLEL).optional().meta({
    description: 'How many items run at a time.',
    default: DEFAULT_PARALLEL,
  }),
  maxItems: z.int().min(1).max(MAX_ITEMS).optional().meta({
    description: 'More items fail the node with TOO_MANY_ITEMS.',
    default: DEFAULT_MAX_ITEMS,
  }),
  tolerate: tolerate.optional().meta({
    description: 'How many items may fail: a number, or a share such as "10%".',
    default: 0,
  }),
});

const repeat = z.strictObject({
  until: z.string().min(1).meta({ description: 'An expression over `output` and `round`, judged after each round.' }),
  maxRounds: z.int().min(1).max(MAX_ROUNDS).optional().meta({
    description: 'More rounds fail the node with REPEAT_EXHAUSTED.',
    default: DEFAULT_MAX_ROUNDS,
  }),
  delayMs: milliseconds(0).optional().meta({ description: 'Between two rounds.', default: 0 }),
  backoffFactor: z.number().min(1).optional().meta({ default: 1 }),
  maxDelayMs: milliseconds(0).optional(),
  collect: z.string().min(1).optional().meta({
    description: 'A {{ template }} over `output` that gives a list; those of all rounds are joined as `collected`.',
  }),
});

/** Kinds that are not allowed in a body: an end, or a wait. */
const {
  status: _status,
  outputs: _outputs,
  error: _error,
  callback: _callback,
  events: _events,
  timeoutMs: _timeoutMs,
  onTimeout: _onTimeout,
  count: _count,
  until: _until,
  ...bodyFields
} = nodeFields;

const body = z.strictObject({
  startNode: nodeId,
  nodes: z
    .array(z.strictObject({ ...bodyFields, nodeType: z.enum(['action', 'subworkflow']).optional() }))
    .min(1)
    .max(MAX_BODY_NODES),
  outputs: z.record(z.string(), z.unknown()).optional().meta({
    description: 'What an item or a round leaves. Default: the outputs of its end nodes.',
  }),
});

const node = z.strictObject({
  ...nodeFields,
  compensate: nodeId.optional().meta({
    description: 'The node that undoes this one, when the execution ends otherwise than well after this one succeeded.',
  }),
  forEach: forEach.optional().meta({ description: 'Runs the node, or its body, for each item of a list.' }),
  repeat: repeat.optional().meta({ description: 'Runs the node, or its body, again and again.' }),
  body: body.optional().meta({ description: 'With forEach or repeat: an inline workflow instead of an action.' }),
});

const trigger = z.strictObject({
  name: z
    .string()
    .max(MAX_ID_LENGTH)
    .regex(/^[a-z0-9-]+$/, { error: 'must be lower-case letters, digits and hyphens' })
    .meta({ description: 'What the file calls it: under one name it stays one trigger.' }),
  triggerType: z.enum(['Schedule', 'Webhook', 'Event', 'Manual']),
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'As of a trigger that is created by hand.' }),
  activationCondition: z.string().min(1).optional(),
  isEnabled: z.boolean().optional(),
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
    timeoutMs: milliseconds(1).optional().meta({ description: 'Of the whole execution.', default: GRAPH_TIMEOUT_MS }),
    outputs: z.record(z.string(), z.unknown()).optional().meta({
      description:
        'What the execution returns; strings may hold {{ expressions }}. Default: the outputs of its end nodes.',
    }),
    vars: z.record(z.string(), z.unknown()).optional().meta({ description: 'Constants, visible as `vars`.' }),
    snapshot: snapshot.optional(),
    driver: z.enum(['native', 'temporal', 'conductor']).optional().meta({
      description: 'What runs it. By default what the environment or the installation says.',
    }),
    expose: z.strictObject({ mcp: z.boolean().optional() }).optional().meta({
      description: 'mcp: AI agents may call the workflow as a tool (Model Context Protocol).',
    }),
    finally: z.array(nodeId).optional().meta({
      description: 'Nodes without edges that run at the end, one after the other, whatever the outcome.',
    }),
    compensationTimeoutMs: milliseconds(1).optional().meta({
      description: 'Of all compensations and `finally` together.',
      default: DEFAULT_COMPENSATION_MS,
    }),
    triggers: z.array(trigger).max(MAX_FILE_TRIGGERS).optional().meta({
      description: 'What starts it. Made, changed and removed when the workflow is published.',
    }),
    nodes: z.array(node).min(1),
  })
  .meta({ title: 'Pawl graph workflow' });
