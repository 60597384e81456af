// Every route of the API has a method in the client. Each method below is called once, and its request is compared with the
// OpenAPI document of a real server. A new route needs a method in src/sdk and a line here.

import { expect, it } from 'vitest';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { useServer } from '../server/api-server.ts';

const server = useServer();

/** Pages for people, in a browser. */
const PAGES = ['GET /', 'GET /docs'];

/** Routes for agents, which use the client of their own protocol. */
const OF_AGENTS = ['POST /mcp'];

/**
 * Routes for webhook providers, which need no client of ours: in addition to `POST /api/v1/triggers/{id}`, and for the
 * challenge of Meta.
 */
const OF_PROVIDERS = ['GET /oauth/callback', 'GET /api/v1/webhooks/{triggerId}', 'POST /api/v1/webhooks/{triggerId}'];

/** Stands for any part of a path. */
const P = 'PART';

const CALLS: readonly ((client: PawlClient) => Promise<unknown>)[] = [
  ({ workflows }) => workflows.create({ name: P, tasks: {} }),
  ({ workflows }) => workflows.validate({}),
  ({ workflows }) => workflows.update(P, { tasks: {} }),
  ({ workflows }) => workflows.get(P),
  ({ workflows }) => workflows.list(),
  ({ workflows }) => workflows.setEnabled(P, true),
  ({ workflows }) => workflows.delete(P),
  ({ workflows }) => workflows.publish(P),
  ({ workflows }) => workflows.archive(P),
  ({ workflows }) => workflows.reactivate(P),
  ({ workflows }) => workflows.openDraft(P),
  ({ workflows }) => workflows.dropDraft(P),
  ({ workflows }) => workflows.versions(P),
  ({ workflows }) => workflows.diff(P),
  ({ workflows }) => workflows.execute(P),
  ({ workflows }) => workflows.trigger(P),
  ({ workflows }) => workflows.runs(P),
  ({ workflows }) => workflows.run(P, P),
  ({ workflows }) => workflows.cancelRun(P, P),
  ({ executions }) => executions.get(P),
  ({ executions }) => executions.list(),
  ({ executions }) => executions.rows(),
  ({ executions }) => executions.journal(P),
  ({ executions }) => executions.node(P, P),
  ({ executions }) => executions.items(P, P),
  ({ executions }) => executions.graph(P),
  ({ executions }) => executions.hierarchy(P),
  ({ executions }) => executions.artifacts(P),
  ({ executions }) => executions.artifact(P),
  ({ executions }) => executions.eventPage(P),
  ({ executions }) => executions.resources({ system: P }),
  ({ executions }) => executions.waits(),
  ({ executions }) => executions.continueWait(P, P),
  ({ executions }) => executions.cancel(P),
  ({ executions }) => executions.signal(P, { type: 'PAUSE' }),
  ({ executions }) => executions.retry(P),
  ({ executions }) => executions.callBack(P),
  ({ taskQueues }) => taskQueues.list(),
  ({ taskQueues }) => taskQueues.poll(P, { worker: P }),
  ({ taskQueues }) => taskQueues.heartbeat(P, { leaseIds: [P] }),
  ({ taskQueues }) => taskQueues.complete(P, { leaseId: P }),
  ({ triggers }) => triggers.create({ workflowId: P, triggerType: 'Webhook', config: {} }),
  ({ triggers }) => triggers.get(P),
  ({ triggers }) => triggers.list(),
  ({ triggers }) => triggers.update(P, {}),
  ({ triggers }) => triggers.delete(P),
  ({ triggers }) => triggers.rotateSecret(P),
  ({ triggers }) => triggers.backfill(P, { from: P, until: P }),
  ({ triggers }) => triggers.fire(P),
  ({ triggers }) => triggers.send(P, {}),
  ({ triggers }) => triggers.test(P),
  ({ triggers }) => triggers.firings(P),
  ({ triggers }) => triggers.publishEvent({ type: P }),
  ({ connections }) => connections.create({ name: P, connector: 'http', kind: 'token', token: P }),
  ({ connections }) => connections.list(),
  ({ connections }) => connections.get(P),
  ({ connections }) => connections.change(P, {}),
  ({ connections }) => connections.delete(P),
  ({ connections }) => connections.check(P),
  ({ connections }) => connections.authorize(P),
  ({ secrets }) => secrets.list(),
  ({ secrets }) => secrets.set(P, P),
  ({ secrets }) => secrets.remove(P),
  ({ lifecycles }) => lifecycles.import({ definition: {} }),
  ({ lifecycles }) => lifecycles.list(),
  ({ lifecycles }) => lifecycles.of(P, P).get(),
  ({ lifecycles }) => lifecycles.of(P, P).counts(),
  ({ lifecycles }) => lifecycles.of(P, P).versions(),
  ({ lifecycles }) => lifecycles.of(P, P).trigger({ externalRef: P, event: P, requestId: P }),
  ({ lifecycles }) => lifecycles.of(P, P).create({ externalRef: P }),
  ({ lifecycles }) => lifecycles.of(P, P).instances(),
  ({ lifecycles }) => lifecycles.of(P, P).instance(P),
  ({ lifecycles }) => lifecycles.of(P, P).timeline(P),
  ({ lifecycles }) => lifecycles.of(P, P).addActivity(P, { activity: P, status: P }),
  ({ lifecycles }) => lifecycles.of(P, P).diagram('svg'),
  ({ lifecycles }) => lifecycles.of(P, P).diagram('mmd'),
  ({ consumers }) => consumers.register({ code: P, kind: 'pull' }),
  ({ consumers }) => consumers.list(),
  ({ consumers }) => consumers.get(P),
  ({ consumers }) => consumers.change(P, {}),
  ({ consumers }) => consumers.remove(P),
  ({ consumers }) => consumers.pause(P),
  ({ consumers }) => consumers.resume(P),
  ({ consumers }) => consumers.rotateSecret(P),
  ({ consumers }) => consumers.replay(P, { from: new Date(0) }),
  ({ deliveries }) => deliveries.pull(P),
  ({ deliveries }) => deliveries.ack(P, { consumer: P, stage: 'Processed' }),
  ({ deliveries }) => deliveries.get(P),
  ({ deliveries }) => deliveries.requeue(P),
  ({ deliveries }) => deliveries.discard(P),
  ({ deliveries }) => deliveries.notices(),
  ({ catalog }) => catalog.connectors(),
  ({ catalog }) => catalog.connector(P),
  ({ catalog }) => catalog.connectorActions(P),
  ({ catalog }) => catalog.setConnectorEnabled(P, true),
  ({ catalog }) => catalog.actions(),
  ({ catalog }) => catalog.action(P),
  ({ catalog }) => catalog.updateAction(P, {}),
  ({ documents }) => documents.sets(),
  ({ documents }) => documents.set(P),
  ({ documents }) => documents.putSet(P, { displayName: P, team: P }),
  ({ documents }) => documents.list(),
  ({ documents }) => documents.get(P),
  ({ documents }) => documents.get({ set: P, id: P }),
  ({ documents }) => documents.add(P, P, { displayName: P, bodyTemplate: '' }),
  ({ documents }) => documents.versions(P, P),
  ({ documents }) => documents.setVersionEnabled(P, P, 1, true),
  ({ documents }) => documents.render(P),
  ({ documents }) => documents.render({ set: P, id: P }),
  ({ workflowTemplates }) => workflowTemplates.list(),
  ({ workflowTemplates }) => workflowTemplates.get(P),
  ({ workflowTemplates }) => workflowTemplates.create({ id: P, ...TEMPLATE }),
  ({ workflowTemplates }) => workflowTemplates.replace(P, TEMPLATE),
  ({ workflowTemplates }) => workflowTemplates.delete(P),
  ({ workflowTemplates }) => workflowTemplates.instantiate(P, { displayName: P }),
  ({ plans }) => plans.start({ plan: {} }),
  ({ plans }) => plans.cancel(P),
  ({ plans }) => plans.signal(P, { signalId: P, type: 'PAUSE', payload: {} }),
  ({ plans }) => plans.debug(P),
  ({ plans }) => plans.stepLogs(P, P),
  ({ plans }) => plans.inspect(P),
  ({ plans }) => plans.reconcile(P),
  ({ admin }) => admin.deadLetters(),
  ({ admin }) => admin.requeueDeadLetter(P),
  ({ admin }) => admin.purgeDeadLetter(P),
  ({ admin }) => admin.drainRunner(P),
  ({ admin }) => admin.purgeDeadLetters(),
  ({ admin }) => admin.runners(),
  ({ admin }) => admin.consumers(),
  ({ admin }) => admin.tenants(),
  ({ admin }) => admin.erase(P, { person: P, reason: P }),
  ({ catalog }) => catalog.plugins(),
  ({ catalog }) => catalog.registerPlugin({ pluginId: P, version: P, manifest: {}, code: P }),
  ({ admin }) => admin.audit(),
  ({ admin }) => admin.verifyAudit(),
  ({ admin }) => admin.quota(P),
  ({ admin }) => admin.setQuota(P, { preset: 'free' }),
  ({ system }) => system.session(),
  ({ system }) => system.now(),
  ({ system }) => system.find(P),
  ({ statistics }) => statistics.over(),
  ({ statistics }) => statistics.failures(),
  ({ bulk }) => bulk.order({ requestId: P, action: 'cancel', reason: P, ids: [] }),
  ({ bulk }) => bulk.get(P),
  ({ bulk }) => bulk.list(),
  ({ bulk }) => bulk.stop(P),
  ({ admin }) => admin.keys(),
  ({ admin }) => admin.createKey({ name: P, scopes: [] }),
  ({ admin }) => admin.revokeKey(P),
  ({ system }) => system.live(),
  ({ system }) => system.ready(),
  ({ system }) => system.health(),
  ({ system }) => system.detailedHealth(),
  ({ system }) => system.metrics(),
  ({ system }) => system.openApi(),
  ({ system }) => system.schemas(),
  ({ system }) => system.schema(P),
];

const TEMPLATE = { displayName: P, description: P, category: P, definition: {}, configSchema: {} };

/** The request that a call sends, as `METHOD /path`. */
async function askedBy(call: (client: PawlClient) => Promise<unknown>): Promise<string> {
  const asked: string[] = [];
  const record: typeof fetch = async (input, init) => {
    asked.push(`${init?.method} ${new URL(String(input)).pathname}`);
    return Response.json({ data: {} });
  };
  await call(createClient({ url: 'http://pawl.example', fetch: record }));
  expect(asked).toHaveLength(1);
  return asked[0]!;
}

it('every route has a method in the client, and every method asks for an existing route', async () => {
  const { body } = await server.get('/api/v1/openapi.json', { token: null });
  const paths = body.paths as Record<string, Record<string, unknown>>;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const matching = (asked: string) => routes.filter((route) => patternOf(route).test(asked));
  const reached = new Map<string, string[]>();
  for (const call of CALLS) {
    const asked = await askedBy(call);
    reached.set(asked, matching(asked));
  }
  expect([...reached].filter(([, found]) => found.length === 0)).toEqual([]);
  const covered = new Set([...reached.values()].map((found) => mostSpecific(found)));
  expect(
    routes.filter((route) => !covered.has(route) && ![...PAGES, ...OF_PROVIDERS, ...OF_AGENTS].includes(route)),
  ).toEqual([]);
});

const patternOf = (route: string): RegExp => new RegExp(`^${route.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`);

/** A fixed word wins over a parameter in the same place, as in every router. */
const mostSpecific = (routes: readonly string[]): string =>
  routes.toSorted((a, b) => a.split('{').length - b.split('{').length)[0]!;
