// What happens to hooks over HTTP when one of their consumers is removed.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { useServer } from '../server/api-server.ts';
import { loan, loanCalls } from './lifecycle-server.ts';

const server = useServer();
const { trigger, pull, ack, until, instance, timeline } = loanCalls(server);
const CONSUMERS = '/api/v1/consumers';

beforeAll(async () => {
  const onProcessed = { succeeded: 'approve', failed: 'reject' };
  const routes = [{ hook: 'check', consumers: ['d1', 'd2'], onProcessed }];
  const policies = [{ name: 'both', on: { transition: { event: 'submit' } }, routes }];
  const body = { definition: loan(), policies: { env: 'prod', definition: 'loan', policies } };
  expect((await server.post('/api/v1/lifecycles', body)).status).toBe(201);
});

const remove = async (code: string) => {
  expect((await server.ask('DELETE', `${CONSUMERS}/${code}`)).status).toBe(204);
};

const hookTo = async (consumer: string, externalRef: string): Promise<string> => {
  const hook = (await pull(consumer)).find((event) => event.externalRef === externalRef);
  expect(hook).toBeDefined();
  return hook!.ackGuid as string;
};

describe('a hook to a consumer that was removed', () => {
  it('a hook to a removed consumer waits until the consumer is registered again', async () => {
    await remove('d2');
    expect((await trigger('sent to both', 'submit')).status).toBe(200);
    expect((await server.get(`${CONSUMERS}/d2`)).body).toMatchObject({ code: 'd2', kind: 'pull' });
    const ackGuid = await hookTo('d1', 'sent to both');
    await ack(ackGuid, { consumer: 'd1', stage: 'Processed' });
    expect((await server.post(CONSUMERS, { code: 'd2', kind: 'pull' })).status).toBe(200);
    expect(await hookTo('d2', 'sent to both')).toBe(ackGuid);
    expect((await instance('sent to both')).state).toBe('submitted');
    await ack(ackGuid, { consumer: 'd2', stage: 'Processed' });
    await until('sent to both', 'approved');
  });
});

describe('a hook to a consumer that is removed before it answers', () => {
  it('a hook fails when a consumer is removed before it answers, whatever the others say', async () => {
    await trigger('answered by one', 'submit');
    const ackGuid = await hookTo('d1', 'answered by one');
    await ack(ackGuid, { consumer: 'd1', stage: 'Processed' });
    await remove('d2');
    await until('answered by one', 'rejected');
    expect((await timeline('answered by one')).map(({ event }) => event)).toEqual(['submit', 'reject']);
    const notices = async () => (await server.get('/api/v1/notices?limit=200')).body.data as JsonObject[];
    await expect.poll(notices).toContainEqual(
      expect.objectContaining({
        kind: 'DispatchFailure',
        message: 'a hook waited for "d2", which was removed: it has failed',
        details: { consumer: 'd2', hooks: 1, ackGuids: [ackGuid] },
      }),
    );
  });
});
