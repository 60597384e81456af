// I21: a caller that sends a body byte by byte holds nothing that others need.

import { afterEach, describe, expect, it } from 'vitest';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { halfSent, type RawRequest, rawRequest } from './raw-request.ts';

const server = useServer();
const open: RawRequest[] = [];
const send = (bytes: string): RawRequest => {
  const request = rawRequest(server.url, bytes);
  open.push(request);
  return request;
};
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
});

describe('a request that is refused whatever its body says', () => {
  it('I21: a request without a token gets 401 before its body, and its connection is closed', async () => {
    const request = send(halfSent('POST', '/api/v1/events'));
    expect(await request.status).toBe(401);
    await request.closed;
  });

  it('I21: a request to an unknown callback gets 404 before its body', async () => {
    const request = send(halfSent('POST', '/wh/x'));
    expect(await request.status).toBe(404);
    expect(request.text()).toContain('CALLBACK_NOT_FOUND');
    await request.closed;
  });

  it('I21: a request with a wrong scope or an unknown path is answered before its body', async () => {
    const token = await tokenFor({ scope: ['workflows:read'] });
    const forbidden = send(halfSent('POST', '/api/v1/events', [`Authorization: Bearer ${token}`]));
    const nowhere = send(halfSent('POST', '/nowhere'));
    expect([await forbidden.status, await nowhere.status]).toEqual([403, 404]);
  });
});

it('I21: a public request whose body comes too slowly gets 408 within seconds', async () => {
  await server.pawl.publish(chain('hooked', echo('a')), { tenantId: 'acme' });
  const { body } = await server.post('/api/v1/triggers', { workflowId: 'hooked', triggerType: 'Webhook' });
  const request = send(halfSent('POST', `/api/v1/triggers/${body.id as string}`));
  expect(await request.status).toBe(408);
  await request.closed;
});

it('I21: hundreds of half-sent public requests do not affect callers with a token, or probes', async () => {
  await server.pawl.publish(chain('beside', echo('a')), { tenantId: 'acme' });
  const { body: trigger } = await server.post('/api/v1/triggers', { workflowId: 'beside', triggerType: 'Webhook' });
  const attack = Array.from({ length: 600 }, (_, index) =>
    send(halfSent('POST', index % 2 === 0 ? `/api/v1/triggers/${trigger.id as string}` : '/api/v1/events')),
  );
  await Promise.all(attack.filter((_, index) => index % 2 === 1).map(({ status }) => status));
  const statuses = await Promise.all([
    server.get('/api/v1/workflows'),
    server.post('/api/v1/workflows/beside/execute', {}),
    server.get('/api/v1/admin/runners'),
    server.get('/health/ready', { token: null }),
    server.get('/health/live', { token: null }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([200, 202, 200, 200, 200]);
});

it('a refused request that was sent in full keeps its connection and gets its answer', async () => {
  const large = `{"trigger":"${'x'.repeat(3 * 1024 * 1024)}"}`;
  for (const token of [null, await tokenFor()]) {
    const { status, body } = await server.ask('POST', '/api/v1/events', { token, text: large });
    expect({ status, code: (body.error as { code: string }).code }).toEqual(
      token === null ? { status: 401, code: 'UNAUTHENTICATED' } : { status: 413, code: 'PAYLOAD_TOO_LARGE' },
    );
  }
});
