// Stopping: requests in progress are answered, streams end without pretending that the execution did, and nothing is left.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
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
  it('ends streams without their end, so that clients come again', async () => {
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

  it('gives back what it owned, and the next one goes on', async () => {
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
});
