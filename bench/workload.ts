// The measured workflows, and how their executions get into the queue. Every step takes the result of the one before it, as in
// real workflows, and its action does nothing: only the engine is measured.

import { randomBytes } from 'node:crypto';
import { uuidV7 } from '../src/core/id/id.ts';
import type { Json } from '../src/core/json/json.ts';
import type { Pawl } from '../src/main.ts';
import type { NewExecution } from '../src/store/port.ts';

const BATCH = 256;
export const TENANT = 'default';
const PRINCIPAL = JSON.stringify({ userId: 'bench', displayName: 'Bench', email: null });

/** A chain of actions, each with the output of the one before it. */
export function chainWorkflow(id: string, length: number, actionType = 'core.echo'): Json {
  const parameters = (index: number) =>
    index === 0 ? { x: '{{ trigger.x }}' } : { x: `{{ context.data['n${index - 1}'].x }}` };
  const edges = (index: number) => (index === length - 1 ? [] : [{ targetNode: `n${index + 1}` }]);
  return {
    id,
    displayName: id,
    startNode: 'n0',
    nodes: Array.from({ length }, (_, index) => ({
      id: `n${index}`,
      actionType,
      parameters: parameters(index),
      edges: edges(index),
    })),
  };
}

/** One node, `width` nodes after it, and one node that joins them. */
export function fanWorkflow(id: string, width: number): Json {
  const middle = Array.from({ length: width }, (_, index) => `n${index}`);
  return {
    id,
    displayName: id,
    startNode: 'start',
    nodes: [
      {
        id: 'start',
        actionType: 'core.echo',
        parameters: { x: '{{ trigger.x }}' },
        edges: middle.map((targetNode) => ({ targetNode })),
      },
      ...middle.map((name) => ({
        id: name,
        actionType: 'core.echo',
        parameters: { x: '{{ context.data.start.x }}' },
        edges: [{ targetNode: 'end' }],
      })),
      { id: 'end', actionType: 'core.echo', parameters: { x: '{{ context.data.start.x }}' } },
    ],
  };
}

/** Steps that do not wait for each other: only an execution plan may start with several steps. */
export function parallelWorkflow(id: string, width: number): Json {
  return {
    metadata: {
      planId: id,
      planVersion: '1',
      createdAt: '2026-01-01T00:00:00Z',
      createdBy: 'bench',
      schemaVersion: 'v1',
    },
    scope: { tenantId: TENANT, projectId: 'default', environmentId: 'default', repoSha: '0' },
    steps: Array.from({ length: width }, (_, index) => ({
      stepId: `n${index}`,
      type: 'core.echo',
      inputs: { x: index },
      timeout: '1m',
    })),
  };
}

export interface Workload {
  readonly workflowId: string;
  readonly version: number;
  readonly format: string;
}

export async function publish(pawl: Pawl, definition: Json): Promise<Workload> {
  const { workflowId, version } = await pawl.publish(definition);
  const workflow = await pawl.store.workflowGet({ tenantId: TENANT, workflowId });
  return { workflowId, version, format: workflow!.format };
}

/** Writes straight into the queue, many in one statement: accepting requests is measured elsewhere. */
export async function enqueue(pawl: Pawl, workload: Workload, count: number, trigger: Json = { x: 1 }): Promise<void> {
  const body = JSON.stringify(trigger);
  for (let done = 0; done < count; done += BATCH) {
    const items = Array.from({ length: Math.min(BATCH, count - done) }, () => newExecution(workload, body));
    await pawl.store.executionStart({ items });
  }
}

function newExecution({ workflowId, version, format }: Workload, trigger: string): NewExecution {
  const createdAt = Date.now();
  const executionId = uuidV7(createdAt, randomBytes(16));
  return {
    executionId,
    tenantId: TENANT,
    workflowId,
    version,
    format,
    priority: 5,
    trigger,
    spec: null,
    principal: PRINCIPAL,
    correlationId: executionId,
    requestId: executionId,
    parentId: null,
    parentNode: null,
    depth: 0,
    projectId: 'default',
    environmentId: 'default',
    createdAt,
  };
}
