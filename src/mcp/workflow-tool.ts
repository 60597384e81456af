// Workflows as tools. A call starts an execution and waits for its end; a longer one answers with the execution's id. A repeated
// call is the same execution, because its request id is made from the call (I1, docs/mcp.md).

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { everyItem, PawlApiError, type PawlClient } from '../sdk/client.ts';
import type { Arguments, Tool, ToolContext } from './tool.ts';

export interface ExposedWorkflow {
  readonly id: string;
  readonly displayName: string;
  readonly description?: string | undefined;
  readonly triggerSchema?: object | undefined;
}

/** Exposed workflows, by id. */
export async function exposedWorkflows(client: PawlClient): Promise<ExposedWorkflow[]> {
  const found: ExposedWorkflow[] = [];
  const active = { status: 'Active', format: 'graph', isEnabled: true, limit: 200 } as const;
  for await (const { id, displayName, description } of everyItem((cursor) =>
    client.workflows.list({ ...active, ...(cursor === undefined ? {} : { cursor }) }),
  )) {
    const { definition } = (await client.workflows.get(id)) as { definition?: Definition };
    if (definition?.expose?.mcp !== true) continue;
    found.push({ id, displayName, description, triggerSchema: definition.triggerSchema });
  }
  return found;
}

/** Null: there is no such workflow, or it is not a tool. */
export async function exposedWorkflow(client: PawlClient, wanted: string): Promise<ExposedWorkflow | null> {
  const found = await client.workflows.get(wanted).catch((error: unknown) => {
    if (error instanceof PawlApiError && error.status === 404) return null;
    throw error;
  });
  if (found === null || !('displayName' in found) || found.status !== 'Active' || !found.isEnabled) return null;
  const { id, displayName, description } = found;
  const { expose, triggerSchema } = (found.definition ?? {}) as Definition;
  return expose?.mcp === true ? { id, displayName, description, triggerSchema } : null;
}

interface Definition {
  readonly expose?: { readonly mcp?: boolean };
  readonly triggerSchema?: object;
}

const REQUEST_ID = {
  type: 'string',
  description:
    'Optional. A repetition with the same value is the same execution, whenever it comes; another value starts another.',
};

export function workflowTool({ id, displayName, description, triggerSchema }: ExposedWorkflow, waitMs: number): Tool {
  const { properties = {}, ...schema } = (triggerSchema ?? {}) as { properties?: object };
  return {
    name: id,
    description: `${displayName}${description === undefined ? '' : `: ${description}`} (a durable workflow)`,
    scope: 'workflows:execute',
    inputSchema: { ...schema, type: 'object', properties: { ...properties, requestId_: REQUEST_ID } },
    call: (client, given, context) => run(client, id, given, { ...context, waitMs }),
  };
}

async function run(
  client: PawlClient,
  workflowId: string,
  { requestId_, ...trigger }: Arguments,
  { signal, progress, waitMs }: ToolContext & { readonly waitMs: number },
): Promise<unknown> {
  const requestId =
    typeof requestId_ === 'string' ? requestId_ : await sameCall(client, callKey(workflowId, trigger), Date.now());
  const { executionId } = await client.workflows.execute(workflowId, { requestId, trigger });
  const until = performance.now() + waitMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const { status, outputs, error } = await client.executions.get(executionId);
    if (ENDED.has(status)) return { executionId, status, ...(error && { error }), outputs: outputs ?? {} };
    if (performance.now() >= until || signal.aborted) return stillRunning(executionId, status);
    await tellProgress(client, executionId, progress);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut']);

const stillRunning = (executionId: string, status: string) => ({
  executionId,
  status,
  next: `It goes on. Ask describe_execution with executionId "${executionId}", or repeat this call: it is the same execution.`,
});

async function tellProgress(client: PawlClient, executionId: string, progress: ToolContext['progress']): Promise<void> {
  const { nodes } = await client.executions.graph(executionId);
  const done = nodes.filter(({ completedAt, status }) => completedAt !== undefined || status === 'Skipped');
  const working = nodes.find(({ status }) => status === 'Running' || status === 'Waiting' || status === 'Sleeping');
  await progress(
    done.length,
    nodes.length,
    working === undefined ? 'between two nodes' : `${working.id}: ${working.status}`,
  );
}

const WINDOW_MS = 10 * 60_000;

const callKey = (workflowId: string, trigger: object): string =>
  createHash('sha256')
    .update(JSON.stringify([workflowId, trigger]))
    .digest('hex')
    .slice(0, 40);

/**
 * The request id of this window, or of the previous one if the call was made there: a repetition just after the end of a
 * window still counts as one.
 */
async function sameCall(client: PawlClient, key: string, now: number): Promise<string> {
  const window = Math.floor(now / WINDOW_MS);
  const before = `mcp-${key}-${window - 1}`;
  const { data } = await client.executions.list({ requestId: before, limit: 1 });
  const isRecent = data[0] !== undefined && now - Date.parse(data[0].createdAt) < WINDOW_MS;
  return isRecent ? before : `mcp-${key}-${window}`;
}
