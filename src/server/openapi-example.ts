// One example of every request body, by method and path, for the reference and for tools. A test checks each against its route's
// schema, and that none is missing.

import type { Json, JsonObject } from '../core/json/json.ts';

const GRAPH = {
  id: 'greet',
  displayName: 'Greet',
  startNode: 'hello',
  nodes: [{ id: 'hello', actionType: 'core.echo', parameters: { text: 'Hello {{ trigger.name }}' } }],
};

const PIPELINE = {
  name: 'nightly-report',
  tasks: { fetch: { url: 'https://example.com/report' }, pause: { needs: ['fetch'], sleep: '30s' } },
};

const PLAN = {
  metadata: {
    planId: 'orders',
    planVersion: '1',
    schemaVersion: 'v1',
    createdAt: '2026-01-31T09:30:00Z',
    createdBy: 'planner',
  },
  scope: { tenantId: 'default', projectId: 'shop', environmentId: 'test', repoSha: 'abc' },
  steps: [{ stepId: 'greet', type: 'core.echo', inputs: { text: 'hello' }, timeout: '5m' }],
};

const SIGNAL = { signalId: '3f0a4a52-7f3c-4c55-9d53-0b7d0a3c8f11', type: 'PAUSE', payload: { reason: 'a look first' } };

const LIFECYCLE = {
  env: 'prod',
  name: 'ticket',
  initial: 'open',
  states: { open: {}, closed: { final: true } },
  events: { close: { code: 1001 } },
  transitions: [{ from: 'open', on: 'close', to: 'closed' }],
};

const TEMPLATE_CONTENT = {
  displayName: 'Greeting',
  description: 'Says hello',
  category: 'Samples',
  definition: GRAPH,
  configSchema: { type: 'object' },
  tags: ['sample'],
};

const DOCUMENT = {
  displayName: 'Welcome letter',
  fields: [{ key: 'name', label: 'Name', type: 'text', required: true }],
  bodyTemplate: 'Welcome, {{ name }}!',
};

const FROM = '2026-01-31T09:30:00Z';

const EXAMPLES: Readonly<Record<string, Json>> = {
  'POST /api/v1/workflows': GRAPH,
  'PUT /api/v1/workflows/{workflowId}': PIPELINE,
  'PATCH /api/v1/workflows/{workflowId}': { isEnabled: false },
  'POST /api/v1/workflows/validate': GRAPH,
  'POST /api/v1/workflows/{workflowId}/trigger': { orderId: 'o-1' },
  'POST /api/v1/workflows/{workflowId}/execute': { requestId: 'order-o-1', trigger: { name: 'Ada' }, priority: 5 },
  'POST /api/v1/executions/{executionId}/cancel': { reason: 'a wrong address' },
  'POST /api/v1/executions/{executionId}/signals': SIGNAL,
  'POST /api/v1/executions/{executionId}/nodes/{nodeId}/callback': { approved: true },
  'POST /api/v1/triggers': {
    workflowId: 'greet',
    triggerType: 'Schedule',
    config: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
  },
  'PUT /api/v1/triggers/{triggerId}': { isEnabled: false },
  'POST /api/v1/triggers/{triggerId}': { name: 'Ada' },
  'POST /api/v1/triggers/{triggerId}/fire': { name: 'Ada' },
  'POST /api/v1/triggers/{triggerId}/test': { name: 'Ada' },
  'POST /api/v1/triggers/{triggerId}/rotate-secret': { keepPrevious: true },
  'POST /api/v1/triggers/{triggerId}/backfill': { from: FROM, until: '2026-02-01T00:00:00Z' },
  'POST /api/v1/webhooks/{triggerId}': { name: 'Ada' },
  'POST /api/v1/events': { id: 'evt-1', type: 'order.created', data: { orderId: 'o-1' } },
  'POST /api/v1/bulk': {
    requestId: 'cleanup-1',
    action: 'cancel',
    filter: { workflowId: 'greet', status: ['Failed'] },
    reason: 'a wrong address',
    dryRun: true,
  },
  'POST /api/v1/admin/keys': { name: 'ci', scopes: ['workflows:execute', 'workflows:read'] },
  'POST /wh/{token}': { approved: true },
  'POST /api/v1/engine/runs': { plan: PLAN, context: { projectId: 'shop', environmentId: 'test' } },
  'POST /api/v1/engine/runs/{runId}/cancel': { reason: 'a wrong plan' },
  'POST /api/v1/engine/runs/{runId}/signals': SIGNAL,
  'PATCH /api/v1/connectors/{id}': { isEnabled: true },
  'PATCH /api/v1/actions/{id}': { deprecationNotice: 'use core.echo' },
  'POST /api/v1/templates/workflows': { id: 'greeting', ...TEMPLATE_CONTENT },
  'PUT /api/v1/templates/workflows/{workflowTemplateId}': TEMPLATE_CONTENT,
  'POST /api/v1/templates/workflows/{workflowTemplateId}/instantiate': { displayName: 'Greet customers', config: {} },
  'PUT /api/v1/templates/sets/{templateSetId}': { displayName: 'Letters', team: 'Support' },
  'POST /api/v1/templates/{templateSetId}/{templateId}': DOCUMENT,
  'POST /api/v1/templates/{templateSetId}/{templateId}/render': { answers: { name: 'Ada' } },
  'POST /api/v1/templates/{templateId}/render': { answers: { name: 'Ada' } },
  'PATCH /api/v1/templates/{templateSetId}/{templateId}/versions/{version}': { isEnabled: true },
  'POST /api/v1/plugins': {
    ...{ pluginId: 'mask', version: '1.0.0', manifest: { main: 'main.js' } },
    code: 'export default ({ text }) => ({ text })',
  },
  'POST /api/v1/admin/tenants/{tenantId}/erase': {
    person: 'ada@example.com',
    dryRun: true,
    reason: 'request of 12 May',
  },
  'PUT /api/v1/admin/tenants/{tenantId}/quota': { preset: 'pro', limits: { concurrentRuns: 20 } },
  'POST /api/v1/lifecycles': { definition: LIFECYCLE },
  'POST /api/v1/lifecycles/{env}/{name}/trigger': { externalRef: 't-1', event: 'close', requestId: 'close-t-1' },
  'POST /api/v1/lifecycles/{env}/{name}/instances': { externalRef: 't-1' },
  'POST /api/v1/lifecycles/{env}/{name}/instances/{externalRef}/activities': { activity: 'call', status: 'done' },
  'POST /api/v1/consumers': { code: 'billing', kind: 'pull', subscriptions: [{ env: 'prod', definition: 'ticket' }] },
  'PATCH /api/v1/consumers/{code}': { isPaused: true },
  'POST /api/v1/consumers/{code}/rotate-secret': { keepPrevious: true },
  'POST /api/v1/consumers/{code}/replay': { from: FROM },
  'POST /api/v1/deliveries/{ackGuid}/ack': { consumer: 'billing', stage: 'Processed', outcome: 'succeeded' },
  'POST /api/v1/deliveries/{ackGuid}/requeue': { consumer: 'billing' },
  'POST /api/v1/connections': {
    name: 'crm',
    kind: 'token',
    connector: 'http',
    token: 'a-token',
    allowedHosts: ['api.example.com'],
  },
  'PUT /api/v1/connections/{name}': { token: 'a-newer-token' },
  'PUT /api/v1/secrets/{name}': { value: 'a-secret' },
  'POST /api/v1/task-queues/{taskQueue}/poll': { worker: 'gpu-1', limit: 4, waitMs: 10_000 },
  'POST /api/v1/task-queues/{taskQueue}/heartbeat': { leaseIds: ['3f0a4a52-7f3c-4c55-9d53-0b7d0a3c8f12'] },
  'POST /api/v1/task-queues/{taskQueue}/complete': {
    leaseId: '3f0a4a52-7f3c-4c55-9d53-0b7d0a3c8f12',
    outputs: { rows: 12 },
  },
} satisfies JsonObject;

export const bodyExample = (method: string, path: string): Json | undefined => EXAMPLES[`${method} ${path}`];
