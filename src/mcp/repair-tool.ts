// Tools to look and repair. Answers are short: rows instead of payloads, nodes without parameters.

import type { GraphDefinition, PipelineDefinition, PlanDefinition } from '../sdk/definition.ts';
import type { Arguments, Tool } from './tool.ts';

const text = (description: string) => ({ type: 'string', description });
const object = (properties: Record<string, object>, ...required: string[]) => ({
  type: 'object',
  properties,
  required,
});
const EXECUTION = { executionId: text('The id of the execution.') };
const executionIdOf = ({ executionId }: Arguments): string => String(executionId ?? '');
const MAX_LIMIT = 50;
const limitOf = ({ limit }: Arguments): number => Math.min(typeof limit === 'number' ? limit : 20, MAX_LIMIT);
const optional = (given: Arguments, ...names: string[]) =>
  Object.fromEntries(names.filter((name) => typeof given[name] === 'string').map((name) => [name, given[name]]));

export const REPAIR_TOOLS: readonly Tool[] = [
  {
    name: 'list_executions',
    description: 'Lists executions, newest first. `why` is what a live one waits for.',
    scope: 'workflows:read',
    inputSchema: object({
      workflowId: text('Only of this workflow.'),
      status: text('Pending, Running, Paused, Succeeded, Failed, Cancelled or TimedOut; several comma separated.'),
      why: text('queued, noWorker, running, retrying, waiting, sleeping or paused.'),
      limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT },
      cursor: text('The nextCursor of the page before.'),
    }),
    async call(client, given) {
      const query = optional(given, 'workflowId', 'status', 'why', 'cursor');
      const { data, nextCursor } = await client.executions.rows({ ...query, limit: limitOf(given) } as object);
      const rows = data.map(({ executionId, workflowId, status, createdAt, completedAt, error, why }) => ({
        ...{ executionId, workflowId, status, createdAt, completedAt, error, why },
      }));
      return { data: rows, nextCursor };
    },
  },
  {
    name: 'describe_execution',
    description:
      'How an execution goes: its status, each node with its error or reason, what it waits for, its outputs.',
    scope: 'workflows:read',
    inputSchema: object(EXECUTION, 'executionId'),
    async call(client, given) {
      const id = executionIdOf(given);
      const [execution, { nodes }] = await Promise.all([client.executions.get(id), client.executions.graph(id)]);
      const { executionId, workflowId, version, status, why, dueAt, owner, error, outputs } = execution;
      return { executionId, workflowId, version, status, why, dueAt, owner, error, outputs, nodes };
    },
  },
  {
    name: 'list_waits',
    description: 'Steps that wait for an answer from outside, such as an approval.',
    scope: 'workflows:read',
    inputSchema: object({
      workflowId: text('Only of this workflow.'),
      cursor: text('The nextCursor of the page before.'),
    }),
    call: (client, given) =>
      client.executions.waits({ ...optional(given, 'workflowId', 'cursor'), limit: limitOf(given) }),
  },
  {
    name: 'answer_wait',
    description: 'Answers a step that waits, e.g. an approval: the payload is what the step then returns.',
    scope: 'executions:signal',
    inputSchema: object({ ...EXECUTION, nodeId: text('The node that waits.'), payload: {} }, 'executionId', 'nodeId'),
    call: (client, given) =>
      client.executions.continueWait(executionIdOf(given), String(given.nodeId ?? ''), given.payload ?? {}),
  },
  {
    name: 'retry_execution',
    description: 'Runs the failed nodes of an execution again.',
    scope: 'executions:signal',
    inputSchema: object(EXECUTION, 'executionId'),
    call: (client, given) => client.executions.retry(executionIdOf(given)),
  },
  {
    name: 'cancel_execution',
    description: 'Cancels an execution that has not ended.',
    scope: 'workflows:execute',
    inputSchema: object({ ...EXECUTION, reason: text('Why.') }, 'executionId'),
    call: (client, given) => client.executions.cancel(executionIdOf(given), optional(given, 'reason')),
  },
  {
    name: 'validate_definition',
    description: 'Everything that is wrong with a workflow definition; nothing is kept.',
    scope: 'workflows:read',
    inputSchema: object({ definition: { type: 'object' } }, 'definition'),
    call: (client, given) => client.workflows.validate(given.definition),
  },
  {
    name: 'publish_definition',
    description:
      'Publishes a workflow definition (graph, pipeline or plan) as the next version. All problems are in the answer if it is refused.',
    scope: 'workflows:manage',
    inputSchema: object({ definition: { type: 'object' } }, 'definition'),
    call: (client, given) =>
      client.workflows.publish(given.definition as GraphDefinition | PipelineDefinition | PlanDefinition),
  },
];
