// I21: forged keys are cheap to refuse, and do not disturb a caller with a valid key at the same address.

import { Agent, request } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
const agent = new Agent({ keepAlive: true, maxSockets: 400 });
afterAll(() => agent.destroy());

const forged = () => `pawl_${crypto.randomUUID().replaceAll('-', '').padEnd(43, 'x')}`;
const guess = (headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    request(`${server.url}/api/v1/workflows`, { agent, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    })
      .on('error', reject)
      .end();
  });

describe('a flood of invented keys', () => {
  it('a flood of forged keys is refused and slowed down, and valid callers are not slowed down', async () => {
    const guesses = Array.from({ length: 300 }, async () => {
      const began = performance.now();
      const status = await guess({ 'x-api-key': forged() });
      return { status, isHeldBack: performance.now() - began > 900 };
    });
    const token = await tokenFor({ tenant: 'newcomer', roles: [] });
    const created = await server.post('/api/v1/workflows', chain('mine', echo('a')), { token });
    expect(created.status).toBe(201);
    const answers = await Promise.all(guesses);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(answers.filter(({ isHeldBack }) => isHeldBack).length).toBeGreaterThan(50);
  });

  it('a request without credentials is refused at once, even during a flood', async () => {
    await Promise.all(Array.from({ length: 250 }, () => guess({ 'x-api-key': forged() })));
    expect(await guess({})).toBe(401);
  });
});
