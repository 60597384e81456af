// Traces as a collector gets them, over OTLP: execution → node → attempt, whichever process runs them.

import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl } from '../../src/main.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { echo, graph, subworkflow, to, tries } from '../engine/workflow-definition.ts';
import { chain, useServer } from '../server/api-server.ts';
import { httpStandin } from '../standin/http-standin.ts';
import { testDatabase } from '../support/database.ts';
import { type CollectedSpan, otlpCollector } from './otlp-collector.ts';

const collector = await otlpCollector();
const sink = await httpStandin(() => ({ status: 200, body: { fine: true } }));
const trace = { endpoint: `${collector.url}/v1/traces`, exportIntervalMs: 10, serviceName: 'pawl-test' };
const server = useServer({ trace });
afterAll(async () => {
  await collector.standin.close();
  await sink.close();
});

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
const call = (id: string): JsonObject => ({ id, actionType: 'http.request', parameters: { url: `${sink.url}/${id}` } });

async function publish(definition: JsonObject): Promise<void> {
  await server.pawl.publish(definition, { tenantId: 'acme' });
}

/** Runs the workflow over HTTP and waits for the span of the execution, which is sent last. */
async function execute(workflowId: string, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await server.post(`/api/v1/workflows/${workflowId}/execute`, { trigger: {} }, { headers });
  const executionId = body.executionId as string;
  await eventually(() => executionSpan(executionId)).toBeDefined();
  return executionId;
}

const spansOf = (executionId: string) => collector.spans.filter(({ attributes }) => attributes.runId === executionId);
const executionSpan = (executionId: string) => spansOf(executionId).find(({ name }) => name.startsWith('execution '));
const named = (executionId: string, name: string): CollectedSpan[] =>
  spansOf(executionId).filter((span) => span.name === name);
const only = (executionId: string, name: string): CollectedSpan => {
  const found = named(executionId, name);
  expect(found, name).toHaveLength(1);
  return found[0]!;
};

describe('the spans of an execution', () => {
  it('the spans of an execution are a tree of execution, nodes and attempts with their details', async () => {
    await publish(chain('tree', echo('one'), echo('two')));
    const executionId = await execute('tree');
    const root = only(executionId, 'execution tree');
    const place = { runId: executionId, workflowId: 'tree', planVersion: '1', tenantId: 'acme' };
    expect(root).toMatchObject({ service: 'pawl-test', parentSpanId: '', links: [], status: 'ok' });
    expect(root.traceId).toBe(executionId.replaceAll('-', ''));
    expect(root.attributes).toMatchObject({ ...place, status: 'Succeeded', correlationId: executionId });
    expect(spansOf(executionId)).toHaveLength(5);
    for (const stepId of ['one', 'two']) {
      const node = only(executionId, `node ${stepId}`);
      expect(node).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId, status: 'ok' });
      expect(node.attributes).toMatchObject({ ...place, stepId, stepType: 'core.echo', attempts: 1 });
      const action = named(executionId, 'action core.echo').find(({ attributes }) => attributes.stepId === stepId)!;
      expect(action).toMatchObject({ traceId: root.traceId, parentSpanId: node.spanId, status: 'ok' });
      expect(action.attributes).toMatchObject({ ...place, executionId, attemptId: '1', retryCount: 0 });
      expect(node.startedAt >= root.startedAt && node.endedAt <= root.endedAt).toBe(true);
    }
  });

  it('each attempt has a span below its node, and the span names the failure', async () => {
    const parameters = { failTimes: 1 };
    const flaky = { id: 'flaky', actionType: 'core.sometimes-fails', parameters, ...tries(3), ...to('bad') };
    const bad = { id: 'bad', actionType: 'core.fail', parameters: { message: 'no luck', code: 'NO_LUCK' } };
    await publish(graph('fails', [flaky, bad]));
    const executionId = await execute('fails');
    const node = only(executionId, 'node flaky');
    expect(node).toMatchObject({ status: 'ok', attributes: { attempts: 2 } });
    const attempts = named(executionId, 'action core.sometimes-fails');
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([node.spanId, node.spanId]);
    expect(attempts.map(({ status, attributes }) => [attributes.attempt, attributes.status, status])).toEqual([
      [1, 'RetriableFailure', 'error'],
      [2, 'Succeeded', 'ok'],
    ]);
    expect(new Set(attempts.map(({ spanId }) => spanId)).size).toBe(2);
    expect(only(executionId, 'node bad')).toMatchObject({ status: 'error', attributes: { 'error.type': 'NO_LUCK' } });
    const root = only(executionId, 'execution fails');
    expect(root).toMatchObject({ status: 'error', attributes: { status: 'Failed', 'error.type': 'NO_LUCK' } });
    expect(root.message).toBe('NO_LUCK: no luck');
  });

  it('an execution joins the trace of the caller and passes it on to the services that it calls', async () => {
    await publish(chain('calls', call('sink')));
    const executionId = await execute('calls', { traceparent });
    expect(only(executionId, 'execution calls')).toMatchObject({
      traceId: CALLER.traceId,
      parentSpanId: CALLER.spanId,
    });
    const action = only(executionId, 'action http.request');
    const request = sink.requests.find(({ url }) => url.pathname === '/sink')!;
    expect(request.headers.traceparent).toBe(`00-${CALLER.traceId}-${action.spanId}-01`);
  });

  it('the span of a child execution links to the node that started it', async () => {
    await publish(graph('child', [echo('leaf')]));
    await publish(graph('parent', [subworkflow('sub', 'child')]));
    const executionId = await execute('parent', { traceparent });
    const node = only(executionId, 'node sub');
    expect(node.attributes.stepType).toBe('subworkflow:child');
    const child = collector.spans.find(({ name }) => name === 'execution child')!;
    expect(child.attributes.parentRunId).toBe(executionId);
    expect(child.links).toEqual([{ traceId: CALLER.traceId, spanId: node.spanId }]);
    expect(child).toMatchObject({ parentSpanId: '', traceId: String(child.attributes.runId).replaceAll('-', '') });
  });

  it('an execution of an unsampled caller records no spans, but passes the context on', async () => {
    await publish(chain('unrecorded', call('silent')));
    const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-00` };
    const { body } = await server.post('/api/v1/workflows/unrecorded/execute', {}, { headers });
    await server.pawl.result(body.executionId as string, { tenantId: 'acme' });
    const request = sink.requests.find(({ url }) => url.pathname === '/silent')!;
    expect(request.headers.traceparent).toMatch(new RegExp(`^00-${CALLER.traceId}-[0-9a-f]{16}-00$`));
    // The spans of a later execution have arrived, so these spans would have arrived too.
    await publish(chain('after', echo('a')));
    await execute('after');
    expect(spansOf(body.executionId as string)).toEqual([]);
  });

  it('an execution with an invalid traceparent begins a trace of its own', async () => {
    await publish(chain('garbled', echo('a')));
    const executionId = await execute('garbled', { traceparent: 'nonsense' });
    expect(only(executionId, 'execution garbled').traceId).toBe(executionId.replaceAll('-', ''));
  });
});

describe('an execution that one process began and another ended', () => {
  it('an execution that moves between processes is one trace, because both derive the same ids', async () => {
    const database = await testDatabase();
    const open = (serviceName: string) =>
      createPawl({
        database: { url: database.connectionString },
        engine: { pollMs: 20, parkAfterMs: 0 },
        trace: { ...trace, serviceName },
      });
    const first = await open('first');
    const policies = { retry: { maxAttempts: 2, baseDelayMs: 300, backoffFactor: 1, jitter: false } };
    await first.publish(graph('moves', [{ id: 'flaky', actionType: 'core.sometimes-fails', policies }]));
    const { executionId } = await first.start('moves', { traceparent });
    await eventually(async () => (await first.store.executionAttempts({ executionId })).length).toBe(1);
    await first.close();
    const second = await open('second');
    await second.result(executionId);
    await second.close();
    await database.drop();

    const root = only(executionId, 'execution moves');
    const node = only(executionId, 'node flaky');
    expect([root, node].map(({ service }) => service)).toEqual(['second', 'second']);
    expect(root).toMatchObject({ traceId: CALLER.traceId, parentSpanId: CALLER.spanId });
    expect(node).toMatchObject({ parentSpanId: root.spanId, attributes: { attempts: 2 } });
    const attempts = named(executionId, 'action core.sometimes-fails');
    expect(attempts.map(({ service, parentSpanId }) => [service, parentSpanId])).toEqual([
      ['first', node.spanId],
      ['second', node.spanId],
    ]);
    expect(node.endedAt - node.startedAt).toBeGreaterThanOrEqual(300_000_000n);
  });
});
