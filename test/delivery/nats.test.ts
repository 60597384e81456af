import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryUnderTest, deliveryWorld, TENANT, type World } from './delivery-under-test.ts';
import { BUILD_LIMIT_MS, type NatsServer, natsServerProgram, startNatsServer } from './nats-server.ts';

const TOKEN = 'bus-canary-71f3';
const program = await natsServerProgram();
if ('missing' in program) {
  console.warn(`SKIPPED: NATS JetStream is not tested: ${program.missing}. To enable it: put nats-server into PATH.`);
}

describe.skipIf('missing' in program)('NATS JetStream as a consumer', () => {
  let world: World;
  let server: NatsServer;
  let client: NatsConnection;
  let manager: JetStreamManager;
  let process: DeliveryUnderTest;

  beforeAll(async () => {
    world = await deliveryWorld();
    server = await startNatsServer((program as { path: string }).path, { token: TOKEN });
    client = await connect({ servers: server.url.replace('nats://', ''), token: TOKEN });
    manager = await jetstreamManager(client);
  }, BUILD_LIMIT_MS);
  afterAll(async () => {
    await world?.close();
    await client?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    await world.database.clear();
    process = await world.process();
    await manager.streams.add({ name: 'events', subjects: ['pawl.>', 'billing.>'] });
  });
  afterEach(async () => {
    await process.stop();
    await manager.streams.delete('events');
  });

  const bus = (changes = {}) => ({ code: 'bus', kind: 'nats', url: server.url, secret: TOKEN, ...changes });
  const kept = async () => {
    const { state } = await manager.streams.info('events');
    const messages = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      messages.push((await manager.streams.getMessage('events', { seq }))!);
    }
    return messages;
  };

  it('NATS keeps a message once, under its ackGuid, however often the message is sent', async () => {
    await process.register(bus());
    const ackGuid = await process.post({ to: ['bus'], body: { n: 1 } });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Delivered');
    await process.timePasses();
    const messages = await kept();
    expect(messages).toHaveLength(1);
    expect(messages[0]!.subject).toBe('pawl.acme.transition.loan.submit');
    expect(messages[0]!.header.get('Nats-Msg-Id')).toBe(ackGuid);
    expect(messages[0]!.json()).toEqual({ ackGuid, kind: 'transition', n: 1 });
    await process.deliveries.ack(TENANT, { ackGuid, consumer: 'bus', stage: 'Processed' });
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Processed');
  });

  it('an execution event on NATS is Processed once stored, under the subject prefix of the consumer', async () => {
    await process.register(bus({ options: { subject: 'billing' } }));
    const ackGuid = await process.post({ to: ['bus'], kind: 'execution', event: 'RunCompleted' });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Processed');
    expect((await kept()).map(({ subject }) => subject)).toEqual(['billing.acme.execution.loan.RunCompleted']);
  });

  it('a NATS server that is away or refuses the token delays the message, and nothing is lost', async () => {
    await process.register(bus({ secret: 'wrong' }));
    const ackGuid = await process.post({ to: ['bus'], kind: 'execution', event: 'RunCompleted' });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Pending');
    expect(process.failedBuses).toEqual(['nats']);
    expect(JSON.stringify(process.raised)).not.toContain(TOKEN);
    await process.consumers.change(TENANT, 'bus', { url: 'nats://127.0.0.1:1', secret: TOKEN });
    await process.timePasses();
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Pending');
    await process.consumers.change(TENANT, 'bus', { url: server.url });
    await process.timePasses();
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Processed');
    expect(await kept()).toHaveLength(1);
  });

  it('a subject without a NATS stream raises a DispatchFailure, and the message stays Pending', async () => {
    await process.register(bus({ options: { subject: 'nobody' } }));
    const ackGuid = await process.post({ to: ['bus'] });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, 'bus')).toBe('Pending');
    expect(process.raised.map(({ kind }) => kind)).toEqual(['DispatchFailure']);
  });
});
