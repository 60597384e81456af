// What lists show besides their items: the backlog of consumers, instances by state, messages of a transition, the last firing of
// a trigger and the slots it missed, and runners.

import { beforeAll, expect, it } from 'vitest';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const server = useServer();
let client: PawlClient;

const LOAN = {
  env: 'prod',
  name: 'loan',
  initial: 'draft',
  states: { draft: {}, submitted: {}, approved: { final: true } },
  events: { submit: {}, approve: {} },
  transitions: [
    { from: 'draft', on: 'submit', to: 'submitted' },
    { from: 'submitted', on: 'approve', to: 'approved' },
  ],
};

beforeAll(async () => {
  client = createClient({ url: server.url, token: await tokenFor() });
  await client.lifecycles.import({ definition: LOAN });
  await client.consumers.register({ code: 'kyc', kind: 'pull', subscriptions: [{ env: 'prod' }] });
  const loans = client.lifecycles.of('prod', 'loan');
  for (const [externalRef, event] of [
    ['loan-1', 'submit'],
    ['loan-2', 'submit'],
    ['loan-2', 'approve'],
    ['other-1', 'submit'],
  ] as const) {
    await loans.trigger({ externalRef, event, requestId: `${externalRef} ${event}` });
  }
});

it('instances are counted by state, empty states included, and listed by prefix', async () => {
  const loans = client.lifecycles.of('prod', 'loan');
  expect((await loans.counts()).data).toEqual([
    { state: 'approved', count: 1 },
    { state: 'draft', count: 0 },
    { state: 'submitted', count: 2 },
  ]);
  const refs = async (query: object) => (await loans.instances(query)).data.map(({ externalRef }) => externalRef);
  expect(await refs({ prefix: 'loan-' })).toEqual(['loan-1', 'loan-2']);
  expect(await refs({ prefix: 'loan-', state: 'approved' })).toEqual(['loan-2']);
  expect(await refs({ prefix: 'nobody' })).toEqual([]);
});

it('the list of consumers shows their backlog, and reading it hands out nothing', async () => {
  const look = async () => (await client.consumers.list()).data.find(({ code }) => code === 'kyc')!.backlog;
  const first = await look();
  expect(first).toMatchObject({ pending: 4, failed: 0, dead: 0, oldestAt: expect.any(String) });
  expect(await look()).toEqual(first);
});

it('the list of triggers shows the outcome of the newest firing', async () => {
  await server.pawl.publish(chain('works', echo('only')), { tenantId: 'acme' });
  const { id } = await client.triggers.create({ workflowId: 'works', triggerType: 'Manual' });
  const listed = async () => (await client.triggers.list({ workflowId: 'works' })).data[0]!;
  expect((await listed()).lastFiring).toBeUndefined();
  const fired = (await client.triggers.fire(id, {})) as { executionId: string };
  expect((await listed()).lastFiring).toMatchObject({ outcome: 'started', executionId: fired.executionId });
});

it('a transition names its messages, and listing them takes nothing from a consumer', async () => {
  const { data } = await client.lifecycles.of('prod', 'loan').timeline('loan-2');
  const ackGuids = data.flatMap(({ messages = [] }) => messages);
  expect(ackGuids).toHaveLength(2);
  const list = (query: object) => client.deliveries.list({ stage: 'any', ...query });
  const found = (await list({ ackGuids })).data;
  expect(found).toMatchObject([
    { consumer: 'kyc', stage: 'Pending', source: 'loan', event: 'submit', attempts: 0 },
    { consumer: 'kyc', stage: 'Pending', source: 'loan', event: 'approve', attempts: 0 },
  ]);
  const guids = (page: { data: { ackGuid: string }[] }) => page.data.map(({ ackGuid }) => ackGuid);
  const newest = await list({ order: 'desc', limit: 3 });
  const rest = await list({ order: 'desc', cursor: newest.nextCursor });
  expect([...guids(newest), ...guids(rest)]).toEqual(guids(await list({})).toReversed());
  expect((await list({ consumer: 'kyc', ackGuids: [ackGuids[0]] })).data).toHaveLength(1);
  await expect(list({ ackGuids: ['nonsense'] })).rejects.toMatchObject({ status: 400 });
});

it('the versions of a lifecycle are listed, newest first', async () => {
  const loans = client.lifecycles.of('prod', 'loan');
  const transitions = [...LOAN.transitions, { from: 'submitted', on: 'submit', to: 'approved' }];
  await client.lifecycles.import({ definition: { ...LOAN, transitions } });
  const versions = (await loans.versions()).data;
  expect(versions.map(({ version }) => version)).toEqual([2, 1]);
  expect(versions[0]).toMatchObject({ checksum: expect.any(String), importedAt: expect.any(String) });
  const page = await loans.versions({ limit: 1 });
  expect((await loans.versions({ limit: 1, cursor: page.nextCursor! })).data).toEqual([versions[1]]);
  await expect(client.lifecycles.of('prod', 'nothing').versions()).rejects.toMatchObject({ status: 404 });
});

it('a backfill of a schedule starts each past slot once, and no future slot', async () => {
  const { id } = await client.triggers.create({
    workflowId: 'works',
    triggerType: 'Schedule',
    isEnabled: false,
    config: { cron: '0 * * * *', timezone: 'UTC' },
  });
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T05:00:00Z' };
  const all = { slots: 5, repeated: 0, refused: 0 };
  expect(await client.triggers.backfill(id, range)).toEqual({ ...all, started: 5 });
  expect(await client.triggers.backfill(id, range)).toEqual({ ...all, started: 0, repeated: 5 });
  const slots = (await client.triggers.firings(id)).data.map(({ slot }) => slot);
  expect(slots.toSorted()).toEqual([0, 1, 2, 3, 4].map((hour) => `2026-01-01T0${hour}:00:00.000Z`));
  const future = { from: '2026-01-01T00:00:00Z', until: new Date(Date.now() + 3_600_000).toISOString() };
  await expect(client.triggers.backfill(id, future)).rejects.toMatchObject({ status: 400 });
  await expect(client.triggers.backfill(id, { ...range, from: range.until })).rejects.toMatchObject({ status: 400 });
  const { data } = await client.admin.audit({ action: 'trigger.backfill' });
  expect(data[0]).toMatchObject({ target: `trigger/${id}` });
});

it('a backfill of many slots says where to continue', async () => {
  const config = { cron: '* * * * *', timezone: 'UTC' };
  const { id } = await client.triggers.create({
    workflowId: 'works',
    triggerType: 'Schedule',
    isEnabled: false,
    config,
    activationCondition: 'false',
  });
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T10:00:00Z' };
  const first = await client.triggers.backfill(id, range);
  expect(first).toMatchObject({ slots: 500, started: 0, refused: 500, nextFrom: '2026-01-01T08:20:00.000Z' });
  expect(await client.triggers.backfill(id, { ...range, from: first.nextFrom! })).toMatchObject({ slots: 100 });
});

it('a trigger without slots cannot be backfilled', async () => {
  const { id } = await client.triggers.create({ workflowId: 'works', triggerType: 'Manual' });
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T05:00:00Z' };
  await expect(client.triggers.backfill(id, range)).rejects.toMatchObject({ status: 400 });
});

it('a schedule shows the slots that it missed', async () => {
  const { id } = await client.triggers.create({
    workflowId: 'works',
    triggerType: 'Schedule',
    config: { cron: '0 0 1 1 *', timezone: 'UTC', catchUp: 'skip' },
  });
  expect((await client.triggers.get(id)).missed).toBeUndefined();
  const slot = Date.parse('2026-01-01T00:00:00Z');
  const request = `schedule:${id}:${new Date(slot).toISOString()}:skipped`;
  const reason = 'the slot was missed, and catchUp is "skip"';
  const firing = { triggerId: id, requestId: request, slot, outcome: 'skipped' as const, executionId: null, reason };
  await server.pawl.store.firingAdd({ firings: [{ ...firing, refused: null }] });
  expect((await client.triggers.get(id)).missed).toMatchObject({ slot: '2026-01-01T00:00:00.000Z', reason });
});

it('a connector shows whether a credential is set, and never the credential', async () => {
  const slack = async () => (await client.catalog.connectors()).data.find(({ id }) => id === 'slack')!.credential;
  expect(await slack()).toEqual({ isSet: false });
  await client.connections.create({ name: 'team', kind: 'token', connector: 'slack', token: 'xoxb-secret-1' });
  expect(await slack()).toEqual({ isSet: true });
  const other = createClient({ url: server.url, token: await tokenFor({ tenant: 'globex' }) });
  expect((await other.catalog.connector('slack')).credential).toEqual({ isSet: false });
});

it('a runner shows its process and its load, and takes no more work once drained', async () => {
  const system = createClient({ url: server.url, token: await tokenFor({ roles: ['System', 'Admin'] }) });
  const runner = async () => (await system.admin.runners()).data[0]!;
  await expect.poll(async () => (await runner()).places).toMatchObject({ total: expect.any(Number) });
  expect(await runner()).toMatchObject({
    state: 'live',
    host: expect.any(String),
    version: expect.any(String),
    registeredAt: expect.any(String),
  });
  const { runnerId } = await runner();
  await expect(client.admin.drainRunner('999999')).rejects.toMatchObject({ status: expect.any(Number) });
  await system.admin.drainRunner(runnerId);
  await expect.poll(async () => (await runner()).state, { timeout: 20_000 }).toBe('stopped');
  const { executionId } = await client.executions.execute('works', {});
  expect((await client.executions.get(executionId)).status).toBe('Pending');
  await expect(system.admin.drainRunner(runnerId)).rejects.toMatchObject({ status: 404 });
});
