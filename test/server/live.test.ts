// The live data of the dashboard, open callbacks, and the data of a workflow page: validation, drafts that nobody overwrites, the
// last execution and the live executions of each version.

import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { LiveEvent } from '../../src/protocol/live.ts';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const server = useServer({ engine: { parkAfterMs: 50, pollMs: 50, inboxPollMs: 50, drainMs: 1_000 } });
const tenantId = 'acme';
let client: PawlClient;

const PIPELINE = {
  name: 'approval',
  tasks: { approve: { wait_for_webhook: { timeout: '1h' } }, after: { needs: ['approve'], sleep: '1s' } },
};

const rowOf = async (executionId: string) => (await client.executions.rows({ ids: [executionId] })).data[0]!;
const untilParked = (executionId: string, why: string) =>
  vi.waitUntil(async () => (await rowOf(executionId)).why === why && (await rowOf(executionId)).owner === undefined, {
    timeout: 20_000,
  });

beforeAll(async () => {
  client = createClient({ url: server.url, token: await tokenFor() });
  await server.pawl.publish(chain('sleeps', sleep('nap', 3_600_000)), { tenantId });
  await server.pawl.publish(chain('works', echo('only')), { tenantId });
  await client.workflows.create(PIPELINE as never);
});

describe('open callbacks', () => {
  it('open callbacks are listed with node and timeout, and can be answered by hand once', async () => {
    const { executionId } = await client.executions.execute('approval');
    await untilParked(executionId, 'waiting');
    const { data } = await client.executions.waits({ workflowId: 'approval' });
    expect(data).toMatchObject([{ executionId, nodeId: 'approve', workflowId: 'approval' }]);
    expect(Date.parse(data[0]!.until!)).toBeGreaterThan(Date.now());
    expect(await client.executions.continueWait(executionId, 'approve', { ok: true })).toEqual({ received: true });
    const ended = await client.executions.waitFor(executionId);
    expect(ended.status).toBe('Succeeded');
    expect((await client.executions.waits({ workflowId: 'approval' })).data).toEqual([]);
    const audit = await client.admin.audit({ action: 'execution.callback' });
    expect(audit.data).toMatchObject([{ target: `execution/${executionId}`, details: { nodeId: 'approve' } }]);
  });

  it('a callback to a node that does not wait, or of another tenant, is answered with 404', async () => {
    const { executionId } = await client.executions.execute('approval');
    const path = (nodeId: string) => `/api/v1/executions/${executionId}/nodes/${nodeId}/callback`;
    expect((await server.post(path('after'), {})).body).toMatchObject({ error: { code: 'NODE_NOT_FOUND' } });
    const token = await tokenFor({ tenant: 'globex' });
    expect((await server.post(path('approve'), {}, { token })).status).toBe(404);
    await client.executions.cancel(executionId);
    await client.executions.waitFor(executionId);
    expect(await server.post(path('approve'), {})).toMatchObject({
      status: 410,
      body: { error: { code: 'CALLBACK_GONE' } },
    });
  });
});

describe('the list of executions by what they wait for', () => {
  it('the list finds parked executions that are sleeping, waiting or paused', async () => {
    const sleeping = (await client.executions.execute('sleeps')).executionId;
    const waiting = (await client.executions.execute('approval')).executionId;
    const paused = (await client.executions.execute('sleeps')).executionId;
    await untilParked(sleeping, 'sleeping');
    await untilParked(waiting, 'waiting');
    await client.executions.signal(paused, { type: 'PAUSE', payload: {} });
    await untilParked(paused, 'paused');
    const idsOf = async (why: 'sleeping' | 'waiting' | 'paused') =>
      (await client.executions.rows({ why })).data.map(({ executionId }) => executionId);
    expect(await idsOf('sleeping')).toEqual([sleeping]);
    expect(await idsOf('waiting')).toEqual([waiting]);
    expect(await idsOf('paused')).toEqual([paused]);
    const { live } = await client.system.now();
    expect(live).toMatchObject({ sleeping: 1, waiting: 1, paused: 1 });
    for (const id of [sleeping, waiting, paused]) await client.executions.cancel(id);
    for (const id of [sleeping, waiting, paused]) await client.executions.waitFor(id);
  });
});

describe('the live stream', () => {
  it('the live stream sends everything at first, then changes of counts, the newest and watched rows', async () => {
    const { executionId } = await client.executions.execute('sleeps');
    await untilParked(executionId, 'sleeping');
    const stop = new AbortController();
    const seen: LiveEvent[] = [];
    const isOver = () => seen.some((it) => it.event === 'rows' && it.data.some(({ status }) => status === 'Cancelled'));
    for await (const event of client.system.watch([executionId], { signal: stop.signal })) {
      seen.push(event);
      if (seen.length === 4) await client.executions.cancel(executionId);
      if (isOver()) break;
    }
    stop.abort();
    expect(seen.slice(0, 4).map(({ event }) => event)).toEqual(['now', 'health', 'newest', 'rows']);
    expect(seen[1]!.data).toEqual({ status: 'healthy', reasons: [] });
    expect(seen[2]!.data).toEqual({ executionId });
    expect(seen[3]!.data).toMatchObject([{ executionId, why: 'sleeping' }]);
    expect(seen.filter(({ event }) => event === 'health')).toHaveLength(1);
  });

  it('S1: the live stream shows nothing of an execution of another tenant', async () => {
    const { executionId } = await client.executions.execute('sleeps');
    const other = createClient({ url: server.url, token: await tokenFor({ tenant: 'globex' }) });
    const stop = new AbortController();
    const events: string[] = [];
    for await (const { event } of other.system.watch([executionId], { signal: stop.signal })) {
      events.push(event);
      if (event === 'health') break;
    }
    stop.abort();
    expect(events).toEqual(['now', 'health']);
    await client.executions.cancel(executionId);
  });
});

describe('validating a definition', () => {
  it('validating reports every problem with path and suggestion, and stores nothing', async () => {
    const definition = chain('draft-only', { ...echo('a'), actionType: 'core.ehco' }, echo('b'));
    (definition.nodes as JsonObject[])[1]!.edges = [{ targetNode: 'nowhere' }];
    const answer = await client.workflows.validate(definition);
    expect(answer).toMatchObject({ ok: false, format: 'graph' });
    expect(answer.problems.length).toBeGreaterThan(1);
    expect(answer.problems.every(({ path }) => path.startsWith('/nodes/'))).toBe(true);
    expect((await server.get('/api/v1/workflows/draft-only')).status).toBe(404);
  });

  it('validating a good definition gives ok, and validating nonsense gives a problem, not a failure', async () => {
    expect(await client.workflows.validate(chain('fine', echo('a')))).toEqual({
      ok: true,
      format: 'graph',
      problems: [],
    });
    const nonsense = await client.workflows.validate(17);
    expect(nonsense.ok).toBe(false);
    expect(nonsense.format).toBeUndefined();
  });
});

describe('a draft', () => {
  it('saving a draft that somebody else changed is refused with 412', async () => {
    const first = await client.workflows.create(chain('shared', echo('a')) as never);
    const { checksum } = first as unknown as { checksum: string };
    await client.workflows.create(chain('shared', echo('b')) as never, { ifMatch: checksum });
    const late = client.workflows.create(chain('shared', echo('c')) as never, { ifMatch: checksum });
    await expect(late).rejects.toMatchObject({ status: 412, code: 'DRAFT_CHANGED' });
    const draft = await server.get('/api/v1/workflows/shared?version=draft');
    expect(draft.headers.get('etag')).toBe(`"${draft.body.checksum}"`);
    expect((draft.body.definition as JsonObject).startNode).toBe('b');
  });
});

describe('a workflow', () => {
  it('a workflow shows its last execution, its next run, and the live executions of each version', async () => {
    const { executionId } = await client.executions.execute('sleeps');
    await client.triggers.create({ workflowId: 'sleeps', triggerType: 'Schedule', config: { cron: '0 3 * * *' } });
    await vi.waitUntil(async () => (await server.get('/api/v1/workflows/sleeps')).body.nextFireAt !== undefined, {
      timeout: 20_000,
    });
    const { body } = await server.get('/api/v1/workflows?search=sleeps');
    expect(body.data).toMatchObject([{ id: 'sleeps', lastExecution: { executionId }, nextFireAt: expect.any(String) }]);
    const versions = await client.workflows.versions('sleeps');
    expect(versions.data[0]!.live).toBeGreaterThan(0);
    await client.executions.cancel(executionId);
  });
});
