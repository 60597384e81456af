// Every metric with its exact name and labels, and proof that events move it.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl } from '../../src/main.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { graph, subworkflow, tries } from '../engine/workflow-definition.ts';
import { chain, echo, useServer } from '../server/api-server.ts';
import { createTrigger, sendWebhook } from '../trigger/trigger-api.ts';
import { type Sample, samplesOf, sampleValue } from './prometheus-text.ts';

const server = useServer({ cost: { usdPerAttempt: 0.5, usdPerUnit: 0.25 }, probe: { port: 0 } });
const tenantId = 'acme';
const SECRET = `whsec_${Buffer.from('a secret that is long enough').toString('base64')}`;
let text: string;
let samples: readonly Sample[];

const publish = (definition: JsonObject) => server.pawl.publish(definition, { tenantId });

async function run(workflowId: string, wait = true): Promise<string> {
  const { executionId } = await server.pawl.start(workflowId, { tenantId });
  if (wait) await server.pawl.result(executionId, { tenantId });
  return executionId;
}

/** One of everything that the metrics count. */
async function workload(): Promise<void> {
  await publish({
    ...graph('routed', [
      {
        ...echo('first', { greeting: '{{ "hello" }}' }),
        id: 'first',
        edges: [{ targetNode: 'second', condition: 'true' }],
      },
      { ...echo('second'), id: 'second' },
    ]),
  });
  const flaky = { id: 'flaky', actionType: 'core.sometimes-fails', parameters: { failTimes: 1 }, ...tries(2) };
  await publish(chain('flaky', flaky));
  await publish(chain('failing', { id: 'f', actionType: 'core.fail', parameters: { code: 'OUR_OWN' }, ...tries(1) }));
  await publish(chain('late', { id: 'l', actionType: 'core.delay', parameters: { durationMs: 3_600_000 } }));
  await publish({
    ...chain('overdue', { id: 'l', actionType: 'core.delay', parameters: { durationMs: 60_000 } }),
    timeoutMs: 50,
  });
  await publish(chain('invalid', echo('v', { missing: '{{ trigger.missing }}' })));
  await publish(graph('parent', [subworkflow('sub', 'routed')]));
  for (const workflowId of ['routed', 'flaky', 'failing', 'overdue', 'invalid', 'parent']) await run(workflowId);
  const cancelled = await run('late', false);
  await server.pawl.executions.cancel(tenantId, cancelled);
  await server.pawl.result(cancelled, { tenantId });
  await run('late', false);
  const quota = { limits: { concurrentRuns: 4 } };
  await server.ask('PUT', `/api/v1/admin/tenants/${tenantId}/quota`, { body: quota });
  const config = { secret: SECRET };
  const trigger = { workflowId: 'routed', triggerType: 'Webhook', config, activationCondition: 'trigger.n == 2' };
  const { id } = await createTrigger(server, trigger);
  await sendWebhook(server, id, { body: '{"n":1}', secret: SECRET });
}

beforeAll(async () => {
  await workload();
  text = String((await server.get('/metrics')).body);
  samples = samplesOf(text);
});

const LABELS: Readonly<Record<string, readonly string[]>> = {
  workflow_duration_seconds: ['workflowId', 'status'],
  workflow_success_total: ['workflowId'],
  workflow_failure_total: ['workflowId', 'reason'],
  action_duration_seconds: ['actionType'],
  action_retry_total: ['actionType'],
  action_failure_total: ['actionType', 'status'],
  queue_depth: ['workflowId'],
  template_render_duration_seconds: [],
  condition_eval_duration_seconds: [],
  subworkflow_invocation_total: ['parentWorkflowId'],
  engine_steps_executed_total: ['type', 'status'],
  engine_execution_duration_seconds: ['type'],
  engine_queue_depth: ['adapter', 'taskQueue'],
  engine_errors_total: ['category'],
  engine_tenant_quota_used: ['tenant'],
  engine_tenant_queue_depth: ['tenant'],
  engine_tenant_cost_usd: ['tenant'],
  engine_wakeup_violations_total: [],
  trigger_firings_total: ['triggerType', 'outcome'],
};

const KINDS: Readonly<Record<string, string>> = {
  workflow_duration_seconds: 'histogram',
  action_duration_seconds: 'histogram',
  template_render_duration_seconds: 'histogram',
  condition_eval_duration_seconds: 'histogram',
  engine_execution_duration_seconds: 'histogram',
  queue_depth: 'gauge',
  engine_queue_depth: 'gauge',
  engine_tenant_quota_used: 'gauge',
  engine_tenant_queue_depth: 'gauge',
};

describe('the metrics', () => {
  it.each(Object.entries(LABELS))('the metric %s has the labels %j', (name, labels) => {
    const kind = KINDS[name] ?? 'counter';
    expect(text).toContain(`# TYPE ${name} ${kind}\n`);
    const own = samples.filter((sample) => sample.name === (kind === 'histogram' ? `${name}_count` : name));
    expect(own.length).toBeGreaterThan(0);
    for (const sample of own) expect(Object.keys(sample.labels).sort()).toEqual([...labels].sort());
  });

  it('the metrics declare a counter of events that an event bus did not accept', () => {
    expect(text).toContain('# TYPE eventbus_publish_failures_total counter\n');
  });

  it.each<[string, Record<string, string>, number]>([
    ['workflow_success_total', { workflowId: 'routed' }, 2],
    ['workflow_success_total', { workflowId: 'flaky' }, 1],
    ['workflow_failure_total', { workflowId: 'failing', reason: 'action_failed' }, 1],
    ['workflow_failure_total', { workflowId: 'overdue', reason: 'timeout' }, 1],
    ['workflow_failure_total', { workflowId: 'late', reason: 'cancelled' }, 1],
    ['workflow_failure_total', { workflowId: 'invalid', reason: 'validation_error' }, 1],
    ['workflow_duration_seconds_count', { workflowId: 'overdue', status: 'TimedOut' }, 1],
    ['action_duration_seconds_count', { actionType: 'core.sometimes-fails' }, 2],
    ['action_retry_total', { actionType: 'core.sometimes-fails' }, 1],
    ['action_failure_total', { actionType: 'core.sometimes-fails', status: 'RetriableFailure' }, 1],
    ['action_failure_total', { actionType: 'core.fail', status: 'Failed' }, 1],
    ['queue_depth', { workflowId: 'late' }, 1],
    ['subworkflow_invocation_total', { parentWorkflowId: 'parent' }, 1],
    ['engine_steps_executed_total', { type: 'core.fail', status: 'Failed' }, 1],
    ['engine_queue_depth', { adapter: 'native', taskQueue: 'default' }, 0],
    ['engine_errors_total', { category: 'ACTION' }, 2],
    ['engine_errors_total', { category: 'TIMEOUT' }, 1],
    ['engine_errors_total', { category: 'VALIDATION' }, 1],
    ['engine_tenant_queue_depth', { tenant: 'acme' }, 1],
    ['engine_tenant_quota_used', { tenant: 'acme' }, 0.25],
    ['engine_wakeup_violations_total', {}, 0],
    ['trigger_firings_total', { triggerType: 'Webhook', outcome: 'condition_false' }, 1],
    ['pawl_database_up', {}, 1],
  ])('the metric %s %j is %d', (name, labels, value) => {
    expect(sampleValue(samples, name, labels)).toBe(value);
  });

  it('the metrics include evaluation and rendering inside the decider', () => {
    // Two conditions of edges (`routed` runs twice), and one of the trigger.
    expect(sampleValue(samples, 'condition_eval_duration_seconds_count')).toBe(3);
    expect(sampleValue(samples, 'template_render_duration_seconds_count')).toBeGreaterThanOrEqual(5);
  });

  it('the metrics count the cost of a tenant by the configured rates', () => {
    const attempts = samples.filter(({ name }) => name === 'engine_steps_executed_total');
    const count = attempts.reduce((sum, { value }) => sum + value, 0);
    expect(sampleValue(samples, 'engine_tenant_cost_usd', { tenant: 'acme' })).toBeCloseTo(count * 0.5);
  });

  it('the metrics add up the cost units that steps of a tenant report, and their price', async () => {
    const times = { startedAt: '2026-02-22T10:00:00Z', finishedAt: '2026-02-22T10:00:01Z', durationMs: 1_000 };
    const output = { status: 'SUCCESS', artifactRefs: [], metadata: {}, metrics: { ...times, costUnits: 4 } };
    const plan = {
      metadata: { planId: 'priced', planVersion: '1', createdAt: times.startedAt, createdBy: 't', schemaVersion: 'v1' },
      scope: { tenantId, projectId: 'p', environmentId: 'prod', repoSha: 'x' },
      steps: [{ stepId: 'a', type: 'core.echo', inputs: output, timeout: '10s' }],
    };
    const before = sampleValue(samples, 'engine_tenant_cost_usd', { tenant: 'acme' });
    const run = await server.post('/api/v1/engine/runs', { plan });
    await server.pawl.result((run.body.engineRunRef as { executionId: string }).executionId, { tenantId });
    const now = samplesOf(String((await server.get('/metrics')).body));
    expect(sampleValue(now, 'engine_tenant_cost_units', { tenant: 'acme' })).toBe(4);
    expect(sampleValue(now, 'engine_tenant_cost_usd', { tenant: 'acme' })! - before!).toBeCloseTo(0.5 + 4 * 0.25);
  });
});

describe('the probe port', () => {
  it('the probe port shows health and metrics without a token, even of a runner without an API', async () => {
    const database = { url: server.database.connectionString };
    const runner = await createPawl({ database, probe: { port: 0 } });
    try {
      expect(runner.url).toBeNull();
      for (const url of [runner.probeUrl, server.pawl.probeUrl]) {
        expect(await (await fetch(`${url}/metrics`)).text()).toContain('# TYPE action_duration_seconds histogram');
        expect((await fetch(`${url}/health/live`)).status).toBe(200);
        expect((await fetch(`${url}/health/ready`)).status).toBe(200);
        expect((await fetch(`${url}/api/v1/executions`)).status).toBe(404);
      }
    } finally {
      await runner.close();
    }
  });

  it('the probe port still answers when the database is gone', async () => {
    const database = { url: server.database.connectionString };
    const runner = await createPawl({ database, runner: false, probe: { port: 0 } });
    await runner.store.close();
    const body = await (await fetch(`${runner.probeUrl}/metrics`)).text();
    expect(sampleValue(samplesOf(body), 'pawl_database_up')).toBe(0);
    expect((await fetch(`${runner.probeUrl}/health/ready`)).status).toBe(503);
    await runner.close().catch(() => {});
    await eventually(() =>
      fetch(`${runner.probeUrl}/health/live`).then(
        () => 'open',
        () => 'closed',
      ),
    ).toBe('closed');
  });
});
