// Executions as rows of a table: without payloads, with what each waits for, and with every filter. Also the session, the journal
// that clients fold, and one node with its attempts.

import { beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { applyTransition } from '../../src/core/decider/evolve.ts';
import type { Transition } from '../../src/core/decider/fact.ts';
import { initialState } from '../../src/core/decider/state.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { defineAction } from '../../src/main.ts';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const flaky = defineAction({
  type: 'test.flaky',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({ failTimes: z.int() }),
  outputs: z.looseObject({}),
  run({ failTimes }, context) {
    context.log.info(`attempt ${context.attempt}`);
    if (context.attempt <= failTimes) throw new Error('not yet');
    const link = { system: 'crm', resourceType: 'ticket', resourceId: `a/b/${context.executionId}` };
    return { outputs: { big: 'x'.repeat(10_000) }, resourceLinks: [link] };
  },
});

const server = useServer({ actions: [flaky] });
const tenantId = 'acme';
let client: PawlClient;
const ids: Record<string, string> = {};

const retried = (failTimes: number, baseDelayMs: number) => ({
  id: 'call',
  actionType: 'test.flaky',
  parameters: { failTimes },
  policies: { retry: { maxAttempts: 2, baseDelayMs, jitter: false } },
});

beforeAll(async () => {
  client = createClient({ url: server.url, token: await tokenFor() });
  const definitions: Record<string, JsonObject> = {
    works: chain('works', retried(1, 1), echo('after')),
    fails: chain('fails', retried(2, 1), echo('after')),
    retries: chain('retries', retried(2, 3_600_000)),
    sleeps: chain('sleeps', sleep('nap', 3_600_000)),
  };
  for (const [id, definition] of Object.entries(definitions)) {
    await server.pawl.publish(definition, { tenantId });
    const trigger = { payload: 'y'.repeat(1_000) };
    const started = await client.executions.execute(id, {
      requestId: `req-${id}`,
      trigger,
      projectId: `project-${id}`,
    });
    ids[id] = started.executionId;
  }
  for (const id of ['works', 'fails']) await client.executions.waitFor(ids[id]!);
  const whyOf = async (id: string) => (await client.executions.rows({ ids: [ids[id]!] })).data[0]?.why;
  await vi.waitUntil(async () => (await whyOf('retries')) === 'retrying', { timeout: 20_000 });
  await vi.waitUntil(async () => (await whyOf('sleeps')) === 'sleeping', { timeout: 20_000 });
});

const idsOf = async (query: Parameters<PawlClient['executions']['rows']>[0]) =>
  (await client.executions.rows(query)).data.map(({ executionId }) => executionId);

describe('the session', () => {
  it('the session shows tenant, subject, scopes, roles, expiry and mode, whatever the scopes', async () => {
    const token = await tokenFor({ subject: 'eve', tenant: 'globex', scope: ['workflows:read'], roles: ['Operator'] });
    const session = await createClient({ url: server.url, token }).system.session();
    expect(session).toMatchObject({
      mode: 'strict',
      tenantId: 'globex',
      subject: 'eve',
      scopes: ['workflows:read'],
      roles: ['Operator'],
      version: expect.stringMatching(/^\d/),
    });
    expect(Date.parse(session.expiresAt!)).toBeGreaterThan(Date.now());
  });
});

describe('a row of an execution', () => {
  it('a row has no payload, and otherwise the fields of its execution', async () => {
    const { data } = await client.executions.rows({ ids: [ids.works!] });
    const full = await client.executions.get(ids.works!);
    const { trigger: _trigger, outputs: _outputs, contextSnapshot: _snapshot, spec: _spec, ...rest } = full;
    expect(data).toEqual([rest]);
    expect(JSON.stringify(data).length).toBeLessThan(2_000);
  });

  it('the row of a failed execution names the node and its attempts', async () => {
    const { data } = await client.executions.rows({ ids: [ids.fails!] });
    expect(data[0]).toMatchObject({ status: 'Failed', last: { nodeId: 'call', attempt: 2 } });
  });

  it('the row of a live execution shows what it waits for, until when, and the failed attempt', async () => {
    const { data } = await client.executions.rows({ ids: [ids.retries!, ids.sleeps!] });
    const [sleeping, retrying] = data;
    expect(retrying).toMatchObject({ why: 'retrying', last: { nodeId: 'call', attempt: 1 } });
    expect(Date.parse(retrying!.dueAt!)).toBeGreaterThan(Date.now());
    expect(sleeping).toMatchObject({ why: 'sleeping' });
    expect(sleeping!.last).toBeUndefined();
    expect(await client.executions.get(ids.sleeps!)).toMatchObject({ why: 'sleeping', dueAt: sleeping!.dueAt });
  });

  it('rows count their nodes by status on request, for at most 50 rows', async () => {
    const { data } = await client.executions.rows({ ids: [ids.fails!, ids.works!], include: ['nodes'] });
    expect(data.map(({ nodes }) => nodes)).toEqual([{ Failed: 1, Skipped: 1 }, { Succeeded: 2 }]);
    const { body } = await server.get(`/api/v1/executions?include=nodes&limit=200&ids=${ids.works}`);
    expect(body.data).toMatchObject([{ executionId: ids.works, nodes: { Succeeded: 2 } }]);
    expect(body).not.toHaveProperty('data.0.outputs');
  });
});

describe('filters of the list of executions', () => {
  it('executions are filtered by ids, requestId, resource, project and age', async () => {
    expect(await idsOf({ ids: [ids.works!, ids.fails!] })).toEqual([ids.fails, ids.works]);
    expect(await idsOf({ requestId: 'req-works' })).toEqual([ids.works]);
    expect(await idsOf({ requestId: 'req-nobody' })).toEqual([]);
    expect(await idsOf({ requestId: 'req-works', status: ['Failed'] })).toEqual([]);
    expect(await idsOf({ resource: `crm/ticket/a/b/${ids.works}` })).toEqual([ids.works]);
    expect(await idsOf({ resource: 'crm/ticket/none' })).toEqual([]);
    expect(await idsOf({ projectId: 'project-sleeps' })).toEqual([ids.sleeps]);
    expect(await idsOf({ environmentId: 'elsewhere' })).toEqual([]);
    expect(await idsOf({ olderThan: '1d' })).toEqual([]);
    expect(await idsOf({ olderThan: '0s' })).toHaveLength(4);
  });

  it('executions are filtered by the trigger that started them', async () => {
    const trigger = await client.triggers.create({ workflowId: 'works', triggerType: 'Manual' });
    const fired = (await client.triggers.fire(trigger.id, {})) as { executionId: string };
    expect(await idsOf({ triggerId: trigger.id })).toEqual([fired.executionId]);
    await client.executions.waitFor(fired.executionId);
    expect(await idsOf({ triggerId: trigger.id, status: ['Failed'] })).toEqual([]);
  });

  it('live and ended statuses can be combined in one filter, newest first', async () => {
    const found = await idsOf({ status: ['Running', 'Failed'] });
    expect(found).toEqual([ids.sleeps, ids.retries, ids.fails]);
    expect(await idsOf({ status: ['Running', 'Failed'], limit: 2 })).toEqual([ids.sleeps, ids.retries]);
  });

  it('S1: no filter finds an execution of another tenant', async () => {
    const other = createClient({ url: server.url, token: await tokenFor({ tenant: 'globex' }) });
    for (const query of [
      { ids: [ids.works!] },
      { requestId: 'req-works' },
      { resource: `crm/ticket/a/b/${ids.works}` },
    ]) {
      expect((await other.executions.rows(query)).data).toEqual([]);
    }
  });

  it.each(['olderThan=soon', 'resource=crm', 'ids=x', 'triggerId=x', 'view=card', 'include=everything'])(
    'the query %s is refused with its path',
    async (query) => {
      const { status, body } = await server.get(`/api/v1/executions?${query}`);
      expect({ status, path: (body.error as unknown as { details: JsonObject[] }).details[0]!.path }).toEqual({
        status: 400,
        path: expect.stringContaining(`/query/${query.split('=')[0]}`),
      });
    },
  );
});

describe('a page that reached its search bound', () => {
  const filter = { tenantId, beforeId: null, limit: 10 };

  it('a page that stops at its bound says where, and the next pages find the same rows', async () => {
    const { store } = server.pawl;
    for (const narrow of [
      { projectId: 'project-works' },
      { status: ['Failed', 'Succeeded'] },
      { workflowId: 'works' },
    ]) {
      const whole = await store.executionPage({ ...filter, ...narrow });
      expect(whole.searchedTo).toBeNull();
      const found: string[] = [];
      let beforeId: string | null = null;
      for (let pages = 0; pages < 20; pages++) {
        const page = await store.executionPage({ ...filter, ...narrow, beforeId, maxLooked: 1 });
        found.push(...page.ids);
        beforeId = page.searchedTo;
        if (beforeId === null) break;
      }
      expect(found).toEqual(whole.ids);
    }
  });
});

describe('the journal of an execution', () => {
  const fold = (plan: never, start: never, transitions: readonly Transition[]) => {
    const state = initialState(plan, start);
    for (const transition of transitions) applyTransition(state, transition);
    return state;
  };

  it('I15: folded by the decider gives the statuses, edges and attempts that the graph shows', async () => {
    const { plan, start, transitions } = await client.executions.journal(ids.fails!);
    const state = fold(plan as never, start as never, transitions);
    const graph = await client.executions.graph(ids.fails!);
    expect(state.status).toBe(graph.status);
    expect(state.nodes.map(({ status, attempts }) => [status, attempts])).toEqual(
      graph.nodes.map(({ status, attempts }) => [status, attempts]),
    );
  });

  it('pages of the journal add up to the whole journal', async () => {
    const whole = await client.executions.journal(ids.works!);
    const paged: Transition[] = [];
    let after: number | undefined;
    for (;;) {
      const page = await client.executions.journal(ids.works!, { limit: 1, ...(after === undefined ? {} : { after }) });
      expect(page.plan === undefined).toBe(after !== undefined);
      paged.push(...page.transitions);
      if (page.nextCursor === undefined) break;
      after = Number(page.nextCursor);
    }
    expect(paged).toEqual(whole.transitions);
  });

  it('the journal is streamed as it grows, each transition once', async () => {
    const { executionId } = await client.executions.execute('works');
    const streamed: Transition[] = [];
    for await (const transition of client.executions.transitions(executionId)) streamed.push(transition);
    expect(streamed).toEqual((await client.executions.journal(executionId)).transitions);
    const [first] = streamed;
    const rest: Transition[] = [];
    for await (const transition of client.executions.transitions(executionId, { after: first!.seq }))
      rest.push(transition);
    expect(rest).toEqual(streamed.slice(1));
  });
});

describe('a node of an execution', () => {
  it('a node shows every attempt with parameters, outputs, error and log lines', async () => {
    const node = await client.executions.node(ids.works!, 'call');
    expect(node).toMatchObject({ nodeId: 'call', type: 'test.flaky', status: 'Succeeded', hasEarlier: false });
    expect(node.attempts).toMatchObject([
      { attempt: 1, status: 'RetriableFailure', parameters: { failTimes: 1 }, logs: [{ message: 'attempt 1' }] },
      { attempt: 2, status: 'Succeeded', parameters: { failTimes: 1 }, logs: [{ message: 'attempt 2' }] },
    ]);
    expect(node.attempts[0]!.error!.message).toContain('not yet');
    expect((node.attempts[1]!.outputs as { big: string }).big).toHaveLength(10_000);
  });

  it('a sleeping node shows its open attempt, and a skipped node its reason', async () => {
    const nap = await client.executions.node(ids.sleeps!, 'nap');
    expect(nap).toMatchObject({ status: 'Sleeping', until: expect.any(String), attempts: [{ status: 'Running' }] });
    expect(await client.executions.node(ids.fails!, 'after')).toMatchObject({
      status: 'Skipped',
      reason: expect.stringMatching(/./),
      attempts: [],
    });
  });

  it('a node that the execution does not have is answered with 404', async () => {
    const { status, body } = await server.get(`/api/v1/executions/${ids.works}/nodes/nobody`);
    expect({ status, body }).toMatchObject({ status: 404, body: { error: { code: 'NODE_NOT_FOUND' } } });
  });
});
