// Schemas written by users must not block the server (S4): a pattern that backtracks forever, or a schema that takes long to
// read. Other callers are answered meanwhile, and the sender is told what is wrong.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, useServer } from './api-server.ts';

const server = useServer();
const HOSTILE = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } };
const ENDLESS = { x: `${'a'.repeat(60)}!` };

const create = (id: string, triggerSchema: JsonObject) =>
  server.post('/api/v1/workflows', { ...chain(id, echo('a')), triggerSchema });

beforeAll(async () => {
  expect((await create('hostile', HOSTILE)).status).toBe(201);
  expect((await server.post('/api/v1/workflows/hostile/publish')).status).toBe(200);
});

describe('a pattern that backtracks forever', () => {
  it('a pattern that takes forever is given up, and other requests are answered first', async () => {
    const order: string[] = [];
    const slow = server.post('/api/v1/workflows/hostile/execute', { trigger: ENDLESS }).then((reply) => {
      order.push('slow');
      return reply;
    });
    for (let index = 0; index < 5; index++) {
      expect((await server.get('/health/live', { token: null })).status).toBe(200);
    }
    order.push('others');
    expect(await slow).toMatchObject({
      status: 400,
      body: { error: { code: 'TRIGGER_INVALID', details: [{ code: 'TOO_SLOW' }] } },
    });
    expect(order).toEqual(['others', 'slow']);
  });

  it('a payload that the pattern can check quickly is accepted or refused as usual', async () => {
    expect((await server.post('/api/v1/workflows/hostile/execute', { trigger: { x: 'aaa' } })).status).toBe(202);
    expect((await server.post('/api/v1/workflows/hostile/execute', { trigger: { x: 'b' } })).body).toMatchObject({
      error: { code: 'TRIGGER_INVALID', details: [{ code: 'PATTERN', path: '/x' }] },
    });
  });
});

describe('a schema written by a user', () => {
  it('an invalid schema is refused with its path', async () => {
    expect(await create('wrong', { type: 'objekt', pattern: '(' })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005', details: [{ code: 'SCHEMA_INVALID', path: '/triggerSchema' }] } },
    });
  });

  it('a large schema works like any other', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`k${index}`, { type: 'integer' }]),
    );
    expect((await create('large', { type: 'object', properties })).status).toBe(201);
    await server.post('/api/v1/workflows/large/publish');
    expect((await server.post('/api/v1/workflows/large/execute', { trigger: { k7: 1 } })).status).toBe(202);
    expect((await server.post('/api/v1/workflows/large/execute', { trigger: { k7: 'x' } })).body).toMatchObject({
      error: { code: 'TRIGGER_INVALID', details: [{ path: '/k7' }] },
    });
  });
});
