// A server that asks for no token accepts its own pages and programs, and refuses pages of other origins.

import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { fromElsewhere, ownHosts } from '../../src/server/site.ts';
import { chain, echo } from '../server/api-server.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let pawl: Pawl;

beforeAll(async () => {
  database = await testDatabase();
  pawl = await createPawl({
    serve: true,
    database: { url: database.connectionString },
    server: { port: 0 },
    auth: { allowLooseAuth: true },
  });
  await pawl.publish(chain('mine', echo('a')), { tenantId: 'default' });
});
afterAll(async () => {
  await pawl?.close();
  await database?.drop();
});

/** Uses node:http, because fetch does not allow these headers. */
function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${pawl.url}${path}`, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('error', reject);
    asked.end();
  });
}

const EXECUTE = '/api/v1/workflows/mine/execute';

describe('a loose server', () => {
  it('a loose server accepts programs, which send neither Origin nor Sec-Fetch-Site', async () => {
    expect(await ask('POST', EXECUTE)).toBe(202);
    expect(await ask('GET', '/api/v1/workflows')).toBe(200);
  });

  it('a loose server accepts its own pages', async () => {
    expect(await ask('POST', EXECUTE, { 'sec-fetch-site': 'same-origin', origin: pawl.url! })).toBe(202);
    expect(await ask('POST', EXECUTE, { origin: pawl.url! })).toBe(202);
  });

  it('a loose server refuses an empty no-cors POST of another origin, and nothing is changed', async () => {
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', origin: 'https://evil.example' };
    expect(await ask('POST', EXECUTE, foreign)).toBe(403);
    expect(await ask('POST', '/api/v1/workflows/mine/archive', foreign)).toBe(403);
    expect(await ask('POST', '/api/v1/workflows/mine/archive', { origin: 'https://evil.example' })).toBe(403);
    expect(await ask('POST', EXECUTE, { origin: 'null' })).toBe(403);
  });

  it('a loose server refuses a page from another port of the same machine', async () => {
    const sameSite = { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:3000' };
    expect(await ask('POST', EXECUTE, sameSite)).toBe(403);
    expect(await ask('GET', '/api/v1/workflows', { ...sameSite, 'sec-fetch-mode': 'cors' })).toBe(403);
  });

  it('a loose server accepts a visitor who follows a link from another site', async () => {
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await ask('GET', '/', visit)).toBe(200);
    expect(await ask('GET', '/', { ...visit, 'sec-fetch-dest': 'iframe' })).toBe(403);
    expect(await ask('POST', EXECUTE, visit)).toBe(403);
  });

  it('a loose server refuses a request that is addressed to another host name', async () => {
    expect(await ask('GET', '/api/v1/workflows', { host: 'rebound.example' })).toBe(403);
    expect(await ask('GET', '/api/v1/workflows', { host: 'localhost:7295' })).toBe(200);
  });
});

it('a loose server accepts addresses, private names and its public name, and no other name', () => {
  const answers = ownHosts('0.0.0.0', 'https://flows.example.com/pawl');
  for (const name of ['localhost', '10.1.2.3', '[fd00::1]', 'pawl', 'pawl.internal', 'flows.example.com']) {
    expect({ name, answers: answers(name) }).toEqual({ name, answers: true });
  }
  for (const name of ['evil.example', '1.2.3.4.nip.io', 'localhost.evil.example']) {
    expect({ name, answers: answers(name) }).toEqual({ name, answers: false });
  }
});

it('Sec-Fetch-Site decides alone where a browser sends it, because a proxy may change the host', () => {
  expect(fromElsewhere('POST', { host: 'a:1', origin: 'http://b:2', 'sec-fetch-site': 'same-origin' })).toBe(false);
});
