// The client of the HTTP API: `pawl/sdk`. Uses nothing but fetch and the server's own shapes. Also exports the builders and the
// webhook check.

import type { Page } from '../protocol/answer.ts';
import { AdminApi, PlansApi } from './admin.ts';
import { BulkApi } from './bulk.ts';
import { CatalogApi } from './catalog.ts';
import { ConnectionsApi, SecretsApi } from './connections.ts';
import { ConsumersApi } from './consumers.ts';
import { DeliveriesApi } from './deliveries.ts';
import { ExecutionsApi } from './executions.ts';
import { LifecyclesApi } from './lifecycles.ts';
import { StatisticsApi } from './statistics.ts';
import { SystemApi } from './system.ts';
import { TaskQueuesApi } from './task-queues.ts';
import { DocumentTemplatesApi, WorkflowTemplatesApi } from './templates.ts';
import { type ClientOptions, Transport } from './transport.ts';
import { TriggersApi } from './triggers.ts';
import { WorkflowsApi } from './workflows.ts';

export { PawlApiError } from './api-error.ts';
export type { GraphDefinition, PipelineDefinition, PipelineTask, PlanDefinition } from './definition.ts';
export { pipeline } from './pipeline-builder.ts';
export { expr, type Ref, shape, value } from './reference.ts';
export type { TaskContext, TaskHandler, TaskWorkOptions } from './task-worker.ts';
export type { ClientOptions } from './transport.ts';
export { signWebhook, verifyWebhook, WebhookVerificationError } from './webhook.ts';
export { workflow } from './workflow-builder.ts';

export interface PawlClient {
  readonly workflows: WorkflowsApi;
  readonly executions: ExecutionsApi;
  readonly triggers: TriggersApi;
  readonly lifecycles: LifecyclesApi;
  readonly consumers: ConsumersApi;
  readonly deliveries: DeliveriesApi;
  readonly connections: ConnectionsApi;
  readonly secrets: SecretsApi;
  readonly catalog: CatalogApi;
  readonly documents: DocumentTemplatesApi;
  readonly workflowTemplates: WorkflowTemplatesApi;
  readonly plans: PlansApi;
  readonly taskQueues: TaskQueuesApi;
  readonly admin: AdminApi;
  readonly system: SystemApi;
  readonly statistics: StatisticsApi;
  readonly bulk: BulkApi;
}

export function createClient(options: ClientOptions): PawlClient {
  const transport = new Transport(options);
  const workflows = new WorkflowsApi(transport);
  return {
    workflows,
    executions: new ExecutionsApi(transport, workflows),
    triggers: new TriggersApi(transport),
    lifecycles: new LifecyclesApi(transport),
    consumers: new ConsumersApi(transport),
    deliveries: new DeliveriesApi(transport),
    connections: new ConnectionsApi(transport),
    secrets: new SecretsApi(transport),
    catalog: new CatalogApi(transport),
    documents: new DocumentTemplatesApi(transport),
    workflowTemplates: new WorkflowTemplatesApi(transport),
    plans: new PlansApi(transport),
    taskQueues: new TaskQueuesApi(transport),
    admin: new AdminApi(transport),
    system: new SystemApi(transport),
    statistics: new StatisticsApi(transport),
    bulk: new BulkApi(transport),
  };
}

/** Every item of a list, page after page: `for await (const run of everyItem((cursor) => client.workflows.runs(id, { cursor })))`. */
export async function* everyItem<Item>(
  list: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await list(cursor);
    yield* page.data;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}
