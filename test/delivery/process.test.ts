import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PawlError } from '../../src/core/error/pawl-error.ts';
import { type DeliveryUnderTest, deliveryWorld, TENANT, type World } from './delivery-under-test.ts';

let world: World;
let process: DeliveryUnderTest;

beforeAll(async () => {
  world = await deliveryWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.database.clear();
  process = await world.process();
});
afterEach(() => process.stop());

describe('a handler in the process', () => {
  beforeEach(() => process.register({ code: 'here', kind: 'process' }));

  it('a message is Delivered when the handler returns, and Processed when the handler says so', async () => {
    const seen: string[] = [];
    const off = process.processChannel.handle(TENANT, 'here', ({ ackGuid }) => void seen.push(ackGuid));
    const taken = await process.post({ to: ['here'] });
    await process.dispatcher.settled();
    expect(await process.stageOf(taken, 'here')).toBe('Delivered');
    off();
    process.processChannel.handle(TENANT, 'here', async () => ({ stage: 'Processed' }));
    const done = await process.post({ to: ['here'] });
    await process.dispatcher.settled();
    expect(await process.stageOf(done, 'here')).toBe('Processed');
    expect(seen).toEqual([taken]);
  });

  it('a message stays Pending when the handler throws, and a notice is raised', async () => {
    process.processChannel.handle(TENANT, 'here', () => {
      throw new Error('not today');
    });
    const ackGuid = await process.post({ to: ['here'] });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'here')).toBe('Pending');
    expect(process.raised[0]).toMatchObject({ kind: 'DispatchFailure', details: { ackGuid, error: 'not today' } });
  });

  it('a handler registered later gets the messages that waited for it', async () => {
    const ackGuid = await process.post({ to: ['here'] });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'here')).toBe('Pending');
    process.processChannel.handle(TENANT, 'here', () => ({ stage: 'Processed' }));
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'here')).toBe('Processed');
  });

  it('a slow handler is not given the same message a second time meanwhile', async () => {
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    let calls = 0;
    const { promise: called, resolve: sayCalled } = Promise.withResolvers<void>();
    process.processChannel.handle(TENANT, 'here', async () => {
      calls++;
      sayCalled();
      await letGo;
      return { stage: 'Processed' };
    });
    const ackGuid = await process.post({ to: ['here'] });
    await called;
    const passing = process.timePasses();
    await expect.poll(async () => (await process.deliveries.get(TENANT, ackGuid)).deliveries[0]!.attempts).toBe(2);
    release();
    await passing;
    expect(calls).toBe(1);
    expect(await process.stageOf(ackGuid, 'here')).toBe('Processed');
  });

  it('a handler that never returns does not block the stop, and the message is sent again elsewhere', async () => {
    const hasty = await world.process({ options: { retentionMs: 0, natsServers: [], drainMs: 1 } });
    const { promise: called, resolve: sayCalled } = Promise.withResolvers<void>();
    hasty.processChannel.handle(TENANT, 'here', () => {
      sayCalled();
      return new Promise(() => {});
    });
    const ackGuid = await hasty.post({ to: ['here'] });
    await called;
    await hasty.dispatcher.stop();
    expect(await process.stageOf(ackGuid, 'here')).toBe('Pending');
    process.processChannel.handle(TENANT, 'here', () => ({ stage: 'Processed' }));
    await process.timePasses();
    expect(await process.stageOf(ackGuid, 'here')).toBe('Processed');
  });
});

describe('a route to a workflow', () => {
  const startsWith = (startWorkflow: () => Promise<unknown>) => world.process({ startWorkflow });
  const toWorkflow = async (target: DeliveryUnderTest) => {
    await target.book.ensureBuiltIn(TENANT, 'workflow');
    return target.post({ to: ['(workflows)'], kind: 'hook', body: { workflow: 'notify', payload: { n: 1 } } });
  };

  it('a message routed to a workflow starts it with the work event, under a request id made of the ackGuid', async () => {
    const ackGuid = await toWorkflow(process);
    await process.dispatcher.settled();
    expect(process.started).toEqual([
      {
        tenantId: TENANT,
        workflowId: 'notify',
        requestId: `lifecycle:${ackGuid}`,
        trigger: { ackGuid, kind: 'hook', workflow: 'notify', payload: { n: 1 } },
      },
    ]);
    expect(await process.stageOf(ackGuid, '(workflows)')).toBe('Processed');
    expect(await process.consumers.list(TENANT)).toEqual([]);
  });

  it('a message for a workflow that can never start is dead, and one that may start later stays Pending', async () => {
    const wrong = await startsWith(() => Promise.reject(new PawlError('WORKFLOW_NOT_FOUND', 'no workflow "notify"')));
    const dead = await toWorkflow(wrong);
    await wrong.dispatcher.settled();
    expect(await wrong.stageOf(dead, '(workflows)')).toBe('Dead');
    expect(wrong.raised).toMatchObject([{ kind: 'ConsumerFailure', details: { isDead: true } }]);
    await wrong.stop();
    const busy = await startsWith(() => Promise.reject(new PawlError('QUOTA_EXHAUSTED', 'later')));
    const waits = await toWorkflow(busy);
    await busy.dispatcher.settled();
    expect(await busy.stageOf(waits, '(workflows)')).toBe('Pending');
  });
});

describe('consumers', () => {
  it('the secret of a consumer is shown once, when it is created, and never again', async () => {
    const strict = await world.process();
    const request = { code: 'kyc', kind: 'webhook', url: 'https://example.com/hook' };
    const { secret, created, consumer } = await strict.consumers.register(TENANT, request);
    expect(created).toBe(true);
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify(consumer)).not.toContain(secret);
    expect(await strict.consumers.register(TENANT, request)).toMatchObject({ created: false, secret: null });
    const [listed] = await strict.consumers.list(TENANT);
    expect(listed).toMatchObject({ code: 'kyc', validSecrets: 1, concurrency: 16, ordering: 'delivered' });
    expect(JSON.stringify(listed)).not.toContain(secret!.slice(6));
    expect(await strict.consumers.list('other')).toEqual([]);
    await expect(strict.consumers.get('other', 'kyc')).rejects.toMatchObject({ code: 'CONSUMER_NOT_FOUND' });
  });

  it('an invalid consumer is refused with every problem', async () => {
    const request = { code: 'No!', kind: 'webhook', subscriptions: [{ kind: 'x' }], concurrency: 0, secret: 'short' };
    const error = await process.consumers.register(TENANT, request).catch((thrown: PawlError) => thrown);
    const { details } = error as PawlError;
    expect((details as { path: string }[]).map(({ path }) => path)).toEqual([
      '/code',
      '/url',
      '/secret',
      '/subscriptions/0/kind',
      '/concurrency',
    ]);
  });

  it('a NATS consumer may only name servers that the operator has listed', async () => {
    const strict = await world.process({ strict: true, options: { retentionMs: 0, natsServers: ['bus:4222'] } });
    const register = (url: string) => strict.consumers.register(TENANT, { code: 'bus', kind: 'nats', url });
    await expect(register('nats://elsewhere')).rejects.toThrow(/elsewhere:4222, which is not in delivery.natsServers/);
    expect((await register('nats://bus')).consumer.url).toBe('nats://bus');
  });

  it('a consumer changes its kind and keeps its other options, and its deliveries are removed with it', async () => {
    await process.register({ code: 'x', kind: 'pull', subscriptions: [{ env: 'prod' }], concurrency: 3 });
    const changed = await process.consumers.change(TENANT, 'x', { kind: 'webhook', url: 'https://example.com/' });
    expect(changed.consumer).toMatchObject({ kind: 'webhook', subscriptions: [{ env: 'prod' }], concurrency: 3 });
    const ackGuid = await process.post({ to: ['x'] });
    await process.consumers.remove(TENANT, 'x');
    await expect(process.deliveries.get(TENANT, ackGuid)).resolves.toMatchObject({ deliveries: [] });
    await expect(process.consumers.remove(TENANT, 'x')).rejects.toMatchObject({ code: 'CONSUMER_NOT_FOUND' });
  });

  it('a consumer that only routes name exists as a pull consumer until somebody registers it', async () => {
    await process.book.ensureCodes(TENANT, ['kyc', 'kyc', 'other']);
    expect((await process.consumers.list(TENANT)).map(({ code, kind }) => [code, kind])).toEqual([
      ['kyc', 'pull'],
      ['other', 'pull'],
    ]);
    const ackGuid = await process.post({ to: ['kyc'] });
    await process.register({ code: 'kyc', kind: 'process' });
    process.processChannel.handle(TENANT, 'kyc', () => ({ stage: 'Processed' }));
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'kyc')).toBe('Processed');
  });
});
