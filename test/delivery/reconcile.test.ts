// A bus that has lost its events gets the events of a run again, made from the journal, under the same keys. No other consumer
// gets them twice.

import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { pawl } from '../cli/dev-process.ts';
import { tokenFor, useServer } from '../server/api-server.ts';
import { on, planOf } from '../task-queue/plan.ts';
import { natsServerProgram, startNatsServer } from './nats-server.ts';

const program = await natsServerProgram();
if ('missing' in program) console.warn(`SKIPPED: NATS JetStream is not tested: ${program.missing}.`);
/** The address of the server must be known before the installation is created. */
const nats = 'missing' in program ? null : await startNatsServer(program.path);

describe.skipIf('missing' in program)('reconciling a run with an event bus', () => {
  const server = useServer({ delivery: { natsServers: [new URL(nats?.url ?? 'nats://nowhere:1').host] } });
  let client: Awaited<ReturnType<typeof connect>>;
  let manager: Awaited<ReturnType<typeof jetstreamManager>>;
  beforeAll(async () => {
    client = await connect({ servers: nats!.url.replace('nats://', '') });
    manager = await jetstreamManager(client);
    await manager.streams.add({ name: 'events', subjects: ['pawl.>'] });
  });
  afterAll(async () => {
    await client?.close();
    await nats?.stop();
  });

  const kept = async () => {
    const { state } = await manager.streams.info('events');
    const keys: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const { eventType, idempotencyKey } = (await manager.streams.getMessage('events', { seq }))!.json<JsonObject>();
      keys.push(`${eventType} ${idempotencyKey}`);
    }
    return keys.toSorted();
  };

  it('reconciling a run sends all its events to the bus again, and a pull consumer gets none of them', async () => {
    const subscriptions = [{ kinds: ['execution'] }];
    const made = await server.post('/api/v1/consumers', { code: 'bus', kind: 'nats', url: nats!.url, subscriptions });
    expect(made.status).toBeLessThan(300);
    await server.post('/api/v1/consumers', { code: 'reader', kind: 'pull', subscriptions });
    const plan = planOf('told', [{ stepId: 'a', type: 'core.echo', ...on('tq-control-test') }]);
    const run = await server.post('/api/v1/engine/runs', { plan, context: { runId: 'told-1' } });
    expect(run.status).toBe(202);
    await expect.poll(async () => (await kept()).length, { timeout: 30_000 }).toBe(4);
    const before = await kept();
    const backlog = async () => {
      const { data } = (await server.get('/api/v1/consumers')).body as unknown as { data: JsonObject[] };
      return data.find(({ code }) => code === 'reader')?.backlog;
    };
    const unread = await backlog();
    await manager.streams.purge('events');
    const env = { PAWL_URL: server.url, PAWL_TOKEN: await tokenFor() };
    const { code, stdout, stderr } = await pawl(env, 'reconcile', 'told-1');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '4 events sent to bus\n', stderr: '' });
    await expect.poll(kept, { timeout: 30_000 }).toEqual(before);
    expect(await backlog()).toEqual(unread);
    expect((await server.post('/api/v1/engine/runs/unknown/reconcile')).status).toBe(404);
    const reader = await tokenFor({ scope: 'workflows:read' });
    expect((await server.post('/api/v1/engine/runs/told-1/reconcile', undefined, { token: reader })).status).toBe(403);
  });
});
