// Stopping: requests in progress are answered, streams end without a false end of the execution, and nothing is left behind.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { openNetwork } from '../support/network.ts';
import { chain, sleep } from './api-server.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const open = (): Promise<Pawl> =>
  createPawl({
    serve: true,
    database: { url: database.connectionString },
    server: { port: 0 },
    auth: { allowLooseAuth: true },
    engine: { drainMs: 1_000, pollMs: 50 },
  });

describe('a server that stops', () => {
  it('a server that stops ends streams without an end event, so that clients reconnect', async () => {
    const pawl = await open();
    await pawl.publish(chain('long', sleep('nap', 3_600_000)));
    const { executionId } = await pawl.start('long');
    const answer = await fetch(`${pawl.url}/api/v1/executions/${executionId}/events`, {
      headers: { accept: 'text/event-stream' },
    });
    const text = answer.text();
    await pawl.close();
    expect(await text).toContain(': following');
    expect(await text).not.toContain('event: end');
    await expect(fetch(`${pawl.url}/health/live`)).rejects.toThrow();
  });

  it('a server that stops gives back its executions, and the next server goes on', async () => {
    const first = await open();
    await first.publish(chain('long', sleep('nap', 3_600_000)));
    const { executionId } = await first.start('long');
    await expect.poll(async () => (await first.executions.get('default', executionId)).status).toBe('Running');
    await first.close();
    const second = await open();
    await second.executions.cancel('default', executionId);
    expect(await second.result(executionId)).toMatchObject({ status: 'Cancelled' });
    await second.close();
  });

  it('a server that stops is first not ready, and serves each client until it closes', async () => {
    const pawl = await createPawl({
      serve: true,
      database: { url: database.connectionString },
      server: { port: 0, stopDelayMs: 500 },
      auth: { allowLooseAuth: true },
    });
    const ready = () => fetch(`${pawl.url}/health/ready`);
    expect((await ready()).status).toBe(200);
    const announced = pawl.announceStop();
    const refused = await ready();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ status: 'notReady', checks: { stopping: { ok: false } } });
    const served = await fetch(`${pawl.url}/api/v1/workflows`);
    expect(served.status).toBe(200);
    expect(served.headers.get('connection')).toBe('close');
    await announced;
    await pawl.close();
  });
});

describe('a database behind a network that has gone silent', () => {
  it('a silent database gives 503 within seconds and one log line, and requests work when it is back', async () => {
    const network = await openNetwork(new URL(database.connectionString));
    const lines: string[] = [];
    const pawl = await createPawl({
      serve: true,
      runner: false,
      database: { url: network.connectionString },
      server: { port: 0, databaseTimeoutMs: 300 },
      auth: { allowLooseAuth: true },
      logTarget: { write: (line) => lines.push(line) },
    });
    const list = () => fetch(`${pawl.url}/api/v1/workflows`);
    expect((await list()).status).toBe(200);
    network.freeze();
    const answers = await Promise.all(Array.from({ length: 20 }, list));
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(await answer.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
    }
    const errors = lines.filter((line) => line.includes('"level":50'));
    expect(errors.length).toBeLessThanOrEqual(1);
    expect(lines.filter((line) => line.includes('does not answer: requests are refused'))).toHaveLength(1);
    network.thaw();
    await expect.poll(async () => (await list()).status).toBe(200);
    await pawl.close();
    network.close();
  });
});
