// Reading executions: with the parts that `include` names, in lists, as events, as a graph and as a tree.

import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json/json.ts';
import { defineAction } from '../../src/main.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const talk = defineAction({
  type: 'test.talk',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  displayName: 'Talk',
  description: 'Logs, links a resource, and fails as often as it is told.',
  params: z.object({ failTimes: z.int() }),
  outputs: z.looseObject({}),
  run({ failTimes }, context) {
    context.log.info(`attempt ${context.attempt}`, { failTimes });
    if (context.attempt <= failTimes) throw new Error('not yet');
    const resourceLinks = [
      { system: 'crm', resourceType: 'ticket', resourceId: context.executionId, url: 'https://crm.example/1' },
    ];
    return { outputs: { said: true }, resourceLinks };
  },
});

const hang = defineAction({
  type: 'test.hang',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({}),
  outputs: z.object({}),
  run: () => new Promise<never>(() => {}),
});

const server = useServer({ actions: [talk, hang] });
const tenantId = 'acme';

const run = async (workflowId: string, body: JsonObject = {}): Promise<string> => {
  const started = await server.post(`/api/v1/workflows/${workflowId}/execute`, body);
  expect(started.status).toBe(202);
  return started.body.executionId as string;
};

let executionId: string;
let failedId: string;
let sleepingId: string;

beforeAll(async () => {
  const retry = { policies: { retry: { maxAttempts: 3, baseDelayMs: 1, jitter: false } } };
  const branch = {
    id: 'branch',
    displayName: 'Branch',
    startNode: 'talk',
    nodes: [
      {
        id: 'talk',
        actionType: 'test.talk',
        parameters: { failTimes: 1 },
        ...retry,
        edges: [
          { targetNode: 'yes', condition: 'context.data.talk.said' },
          { targetNode: 'no', condition: '!context.data.talk.said' },
        ],
      },
      { ...echo('yes', { said: '{{ context.data.talk.said }}' }), edges: [{ targetNode: 'child' }] },
      echo('no'),
      { id: 'child', nodeType: 'subworkflow', workflowId: 'inner', parameters: { from: 'branch' } },
    ],
  };
  await server.pawl.publish(chain('inner', echo('only', { from: '{{ trigger.from }}' })), { tenantId });
  await server.pawl.publish(branch, { tenantId });
  await server.pawl.publish(
    chain('fails', { id: 'f', actionType: 'core.fail', parameters: { message: 'Boom at 50%' } }),
    { tenantId },
  );
  await server.pawl.publish(chain('sleeps', sleep('nap', 3_600_000), echo('after')), { tenantId });
  executionId = await run('branch');
  failedId = await run('fails');
  sleepingId = await run('sleeps');
  await server.pawl.result(executionId, { tenantId });
  await server.pawl.result(failedId, { tenantId });
});

describe('one execution', () => {
  it('an execution can be read with its attempts, skipped nodes included', async () => {
    const { body } = await server.get(`/api/v1/executions/${executionId}?include=actions`);
    const actions = body.actions as JsonObject[];
    expect(actions.map(({ nodeId, attempt, retryCount, status }) => ({ nodeId, attempt, retryCount, status }))).toEqual(
      [
        { nodeId: 'talk', attempt: 1, retryCount: 0, status: 'RetriableFailure' },
        { nodeId: 'talk', attempt: 2, retryCount: 1, status: 'Succeeded' },
        { nodeId: 'yes', attempt: 1, retryCount: 0, status: 'Succeeded' },
        { nodeId: 'child', attempt: 1, retryCount: 0, status: 'Succeeded' },
        { nodeId: 'no', attempt: 0, retryCount: 0, status: 'Skipped' },
      ],
    );
    expect(actions[0]).toMatchObject({
      actionType: 'test.talk',
      parameters: { failTimes: 1 },
      error: { message: 'not yet' },
    });
    expect(actions[2]).toMatchObject({ parameters: { said: true }, outputs: { said: true } });
    expect(actions[4]!.reason).toBeTruthy();
    const page = await server.get(`/api/v1/executions/${executionId}?include=actions&limit=2&offset=1`);
    expect((page.body.actions as JsonObject[]).map(({ nodeId }) => nodeId)).toEqual(['talk', 'yes']);
  });

  it('an attempt in progress is shown as Running', async () => {
    await expect
      .poll(async () => (await server.get(`/api/v1/executions/${sleepingId}?include=actions`)).body.actions)
      .toMatchObject([{ nodeId: 'nap', actionType: 'core.delay', status: 'Running' }]);
  });

  it('an execution is found by the resource that it created, alone or in pages', async () => {
    const link = { system: 'crm', resourceType: 'ticket', resourceId: executionId, nodeId: 'talk', executionId };
    const asked = (query: string) => server.get(`/api/v1/resources?system=crm${query}`);
    const { body } = await asked(`&resourceId=${executionId}`);
    expect(body).toEqual({ data: [expect.objectContaining(link)] });
    expect((await asked('&resourceType=other')).body).toEqual({ data: [] });
    const all = ((await asked('')).body.data as { resourceId: string }[]).map(({ resourceId }) => resourceId);
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const { body: page } = await asked(`&limit=1${cursor}`);
      paged.push(...(page.data as { resourceId: string }[]).map(({ resourceId }) => resourceId));
      if (page.nextCursor === undefined) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    expect(paged).toEqual(all);
    expect(
      (await server.get('/api/v1/resources?system=crm', { token: await tokenFor({ tenant: 'other' }) })).body,
    ).toEqual({ data: [] });
  });

  it('an execution can be read with resources, children and events', async () => {
    const { body } = await server.get(`/api/v1/executions/${executionId}?include=resources,children,events`);
    expect(body.resources).toEqual([
      { system: 'crm', resourceType: 'ticket', resourceId: executionId, url: 'https://crm.example/1', nodeId: 'talk' },
    ]);
    expect(body.children).toMatchObject([{ workflowId: 'inner', status: 'Succeeded', parentExecutionId: executionId }]);
    const events = body.events as JsonObject[];
    expect(events[0]).toMatchObject({ seq: 0, type: 'ExecutionStarted', level: 'Info', category: 'Orchestrator' });
    expect(events.at(-1)).toMatchObject({ type: 'ExecutionSucceeded' });
    expect(events.filter(({ type }) => type === 'Log')).toMatchObject([
      { category: 'Action:test.talk', nodeId: 'talk', data: { message: 'attempt 1', data: { failTimes: 1 } } },
      { category: 'Action:test.talk', nodeId: 'talk', data: { message: 'attempt 2' } },
    ]);
    expect(body).not.toHaveProperty('actions');
  });

  it.each(['include=actions&include=events', 'include=actions,%20events'])(
    'reading an execution accepts the query %s',
    async (query) => {
      const { status, body } = await server.get(`/api/v1/executions/${executionId}?${query}`);
      expect([status, Object.keys(body).includes('actions'), Object.keys(body).includes('events')]).toEqual([
        200,
        true,
        true,
      ]);
    },
  );

  it('the events of an execution can be paged from any event', async () => {
    const path = `/api/v1/executions/${executionId}/events?after=1&limit=2`;
    const first = await server.get(path);
    const second = await server.get(`${path}&cursor=${first.body.nextCursor as string}`);
    const seqsOf = ({ body }: typeof first) => (body.data as JsonObject[]).map(({ seq }) => seq as number);
    expect(seqsOf(first)[0]).toBe(2);
    expect(seqsOf(second)[0]).toBe(seqsOf(first).at(-1)! + 1);
  });

  it('`after=-1` returns all events of an execution', async () => {
    const path = `/api/v1/executions/${executionId}/events`;
    expect((await server.get(`${path}?after=-1`)).body).toEqual((await server.get(path)).body);
    expect((await server.get(`${path}?after=-2`)).status).toBe(400);
  });

  it('the graph of an execution shows the state of every node and edge', async () => {
    const { body } = await server.get(`/api/v1/executions/${executionId}/graph`);
    expect(body).toMatchObject({
      status: 'Succeeded',
      nodes: [
        { id: 'talk', type: 'test.talk', status: 'Succeeded', attempts: 2 },
        { id: 'yes', status: 'Succeeded' },
        { id: 'no', status: 'Skipped', reason: expect.any(String) },
        { id: 'child', type: 'subworkflow:inner', status: 'Succeeded', childExecutionId: expect.any(String) },
      ],
      edges: [
        { from: 'talk', to: 'yes', when: 'success', condition: 'context.data.talk.said', state: 'satisfied' },
        { from: 'talk', to: 'no', state: 'unsatisfied' },
        { from: 'yes', to: 'child', state: 'satisfied' },
      ],
    });
  });

  it('the hierarchy of an execution shows all executions below it', async () => {
    const { body } = await server.get(`/api/v1/executions/${executionId}/hierarchy`);
    expect(body).toMatchObject({
      executionId,
      workflowId: 'branch',
      status: 'Succeeded',
      children: [{ workflowId: 'inner', nodeId: 'child', status: 'Succeeded', children: [] }],
    });
    expect(body).not.toHaveProperty('parentExecutionId');
    const [child] = body.children as JsonObject[];
    const seenFromBelow = await server.get(`/api/v1/executions/${child!.executionId}/hierarchy`);
    expect(seenFromBelow.body).toEqual({ ...child, parentExecutionId: executionId });
  });
});

describe('events of an execution', () => {
  it('pages of events together hold every event once, in order', async () => {
    const all = (await server.get(`/api/v1/executions/${executionId}/events?limit=1000`)).body.data as JsonObject[];
    const paged: JsonObject[] = [];
    for (let query = '?limit=3'; ; ) {
      const { body } = await server.get(`/api/v1/executions/${executionId}/events${query}`);
      paged.push(...(body.data as JsonObject[]));
      if (body.nextCursor === undefined) break;
      query = `?limit=3&after=${body.nextCursor}`;
    }
    expect(paged).toEqual(all);
    const facts = all.filter(({ type }) => type !== 'Log');
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index));
  });

  it('events are streamed as they happen, until the end', async () => {
    const id = await run('branch');
    const events = await readStream(`/api/v1/executions/${id}/events`);
    expect(events[0]).toMatchObject({ id: '0', event: 'ExecutionStarted' });
    expect(events.at(-2)).toMatchObject({ event: 'ExecutionSucceeded' });
    expect(events.at(-1)).toMatchObject({ event: 'end' });
    const stored = (await server.get(`/api/v1/executions/${id}/events?limit=1000`)).body.data as JsonObject[];
    expect(events.slice(0, -1).map(({ data }) => JSON.parse(data!))).toEqual(stored);
  });

  it('a stream of events continues after the last event that was seen', async () => {
    const events = await readStream(`/api/v1/executions/${executionId}/events`, { 'last-event-id': '4' });
    expect(JSON.parse(events[0]!.data!)).toMatchObject({ seq: 5 });
  });

  it('a client that leaves a stream does not block the server', async () => {
    const controller = new AbortController();
    const answer = await fetch(`${server.url}/api/v1/executions/${sleepingId}/events`, {
      headers: await streamHeaders(),
      signal: controller.signal,
    });
    const reader = answer.body!.getReader();
    await reader.read();
    controller.abort();
    await expect(reader.read()).rejects.toThrow();
    expect((await server.get('/health/live')).status).toBe(200);
  });
});

async function streamHeaders(more: Record<string, string> = {}): Promise<Record<string, string>> {
  return { accept: 'text/event-stream', authorization: `Bearer ${await tokenFor()}`, ...more };
}

async function readStream(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.url}${path}`, { headers: await streamHeaders(headers) });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const messages = (await answer.text()).split('\n\n').filter((message) => message !== '' && !message.startsWith(':'));
  return messages.map((message) => {
    const fields = message.split('\n').map((line) => /^(\w+): (.*)$/.exec(line)!.slice(1) as [string, string]);
    return Object.fromEntries(fields) as { id?: string; event?: string; data?: string };
  });
}

describe('the list of executions', () => {
  const listed = async (query: string): Promise<string[]> => {
    const { status, body } = await server.get(`/api/v1/executions?${query}`);
    expect({ query, status, body }).toMatchObject({ query, status: 200 });
    return (body.data as JsonObject[]).map((execution) => execution.executionId as string);
  };

  it('executions are listed newest first, in pages', async () => {
    const all = await listed('limit=200');
    expect(all).toEqual([...all].sort().reverse());
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await server.get(`/api/v1/executions?limit=2${cursor}`);
      paged.push(...(body.data as JsonObject[]).map((execution) => execution.executionId as string));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(paged).toEqual(all);
  });

  it('executions are filtered by workflow, version, format and parent', async () => {
    expect(await listed('workflowId=fails')).toEqual([failedId]);
    expect(await listed('workflowId=fails&version=2')).toEqual([]);
    expect(await listed('format=pipeline')).toEqual([]);
    expect(await listed(`parentExecutionId=${executionId}`)).toHaveLength(1);
  });

  it('executions are filtered by status, both live and ended', async () => {
    expect(await listed('status=Failed')).toEqual([failedId]);
    expect(await listed('status=Failed,TimedOut')).toEqual([failedId]);
    expect(await listed('status=Running')).toEqual([sleepingId]);
    expect((await listed('status=Running,Failed')).sort()).toEqual([failedId, sleepingId].sort());
    expect(await listed('status=Failed&workflowId=branch')).toEqual([]);
  });

  it('executions are filtered by error text, and % is an ordinary character', async () => {
    expect(await listed('error=boom')).toEqual([failedId]);
    expect(await listed('error=50%25')).toEqual([failedId]);
    expect(await listed('error=b%25m')).toEqual([]);
  });

  it('executions are filtered by time', async () => {
    const created = (await server.get(`/api/v1/executions/${failedId}`)).body.createdAt as string;
    const later = new Date(Date.parse(created) + 1).toISOString();
    expect(await listed(`workflowId=fails&createdAfter=${created}&createdBefore=${later}`)).toEqual([failedId]);
    expect(await listed(`workflowId=fails&createdBefore=${created}`)).toEqual([]);
  });

  it('executions are filtered by what they wait for, and the list shows it', async () => {
    await expect.poll(() => listed('why=sleeping')).toEqual([sleepingId]);
    expect(await listed('why=retrying')).toEqual([]);
    const { body } = await server.get('/api/v1/executions?why=sleeping');
    expect((body.data as JsonObject[])[0]).toMatchObject({ status: 'Running', why: 'sleeping' });
  });

  it('executions are filtered by several filters at once', async () => {
    const { createdAt } = (await server.get(`/api/v1/executions/${failedId}`)).body as { createdAt: string };
    const since = `createdAfter=${createdAt}&format=graph&version=1`;
    expect(await listed(`status=Failed&error=boom&${since}&workflowId=fails`)).toEqual([failedId]);
    expect(await listed(`status=Succeeded&error=boom&${since}`)).toEqual([]);
    expect(await listed(`status=Failed&${since}`)).toEqual([failedId]);
    expect(await listed(`status=Running&format=graph`)).toEqual([sleepingId]);
    expect(await listed('status=Running&format=plan')).toEqual([]);
    expect(await listed('why=sleeping&error=boom')).toEqual([]);
    expect(await listed(`parentExecutionId=${executionId}&status=Running`)).toEqual([]);
    expect(await listed('createdAfter=2999-01-01T00:00:00Z')).toEqual([]);
  });

  it('the list of executions has a total only when it is asked for', async () => {
    const all = await listed('limit=200');
    const { body } = await server.get('/api/v1/executions?limit=1&count=true');
    expect(body).toMatchObject({ total: { count: all.length, isCapped: false } });
    expect((await server.get('/api/v1/executions?status=Failed&count=true')).body).toMatchObject({
      total: { count: 1 },
    });
    expect((await server.get('/api/v1/executions')).body).not.toHaveProperty('total');
  });

  it('the list of executions refuses unknown filters and invalid values', async () => {
    for (const query of [
      'status=Done',
      'limit=0',
      'limit=9999',
      'cursor=abc',
      'why=because',
      'createdAfter=yesterday',
      'colour=red',
    ]) {
      expect({ query, status: (await server.get(`/api/v1/executions?${query}`)).status }).toEqual({
        query,
        status: 400,
      });
    }
  });
});

describe('an attempt that took too long', () => {
  it('an attempt that took too long is Failed with the code ATTEMPT_TIMEOUT', async () => {
    const policies = { timeoutMs: 1, retry: { maxAttempts: 2, baseDelayMs: 1, jitter: false } };
    await server.pawl.publish(chain('hangs', { id: 'hang', actionType: 'test.hang', policies }), { tenantId });
    const hungId = await run('hangs');
    await server.pawl.result(hungId, { tenantId });
    const error = { code: 'ATTEMPT_TIMEOUT' };
    expect((await server.get(`/api/v1/executions/${hungId}?include=actions`)).body.actions).toMatchObject([
      { attempt: 1, status: 'RetriableFailure', error },
      { attempt: 2, status: 'Failed', error },
    ]);
    expect((await server.get(`/api/v1/executions/${hungId}/graph`)).body.nodes).toMatchObject([{ status: 'TimedOut' }]);
  });
});
