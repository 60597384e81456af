// Workflows on a real Conductor server. `npm run servers` obtains it; without it these tests are skipped, and say so.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conductor } from '../../scripts/server/conductor.ts';
import type { RunningServer } from '../../scripts/server/server.ts';
import type { Json } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const program = conductor.find();
if (program === null) console.warn('SKIPPED: the tests of Conductor. Run `npm run servers` to obtain the server.');

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const echo = (id: string, ...next: string[]) => ({
  id,
  actionType: 'core.echo',
  parameters: { from: id },
  edges: next.map((targetNode) => ({ targetNode })),
});
const graph = (id: string, ...nodes: object[]): Json =>
  ({ id, displayName: id, startNode: (nodes[0] as { id: string }).id, nodes }) as Json;

// A chain of lanes takes Conductor seconds, and longer on a busy machine.
describe.skipIf(program === null)('on Conductor', { timeout: 300_000 }, () => {
  let server: RunningServer;
  let database: TestDatabase;
  let pawl: Pawl;
  const folder = mkdtempSync(join(tmpdir(), 'pawl-conductor-test-'));

  beforeAll(async () => {
    const port = await freePort();
    server = await conductor.start!(program!, { port, data: folder });
    database = await testDatabase();
    pawl = await createPawl({
      database: { url: database.connectionString },
      driver: { default: 'conductor' },
      conductor: { url: `http://127.0.0.1:${port}` },
    });
  }, 300_000);
  afterAll(async () => {
    await pawl?.close();
    await database?.drop();
    server?.process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(definition: Json, trigger: Json = {}) {
    const { workflowId } = await pawl.publish(definition);
    const { executionId } = await pawl.start(workflowId, { trigger });
    return { executionId, result: await pawl.result(executionId) };
  }

  it('a diamond runs to its end, and its reference names the run', async () => {
    const { executionId, result } = await run(
      graph('diamond', echo('a', 'b', 'c'), echo('b', 'd'), echo('c', 'd'), echo('d')),
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { from: 'd' } });
    const view = await pawl.store.executionGet({ tenantId: 'default', executionId });
    expect(view).toMatchObject({ driver: 'conductor' });
  });

  it('a branch that is not taken is skipped, and the join does not wait for it', async () => {
    const start = { ...echo('a'), edges: [{ targetNode: 'b', condition: 'trigger.take' }, { targetNode: 'c' }] };
    const { result } = await run(graph('branch', start, echo('b', 'd'), echo('c', 'd'), echo('d')), { take: false });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { from: 'd' } });
  });

  it('a node that fails once is tried again', async () => {
    const flaky = {
      id: 'flaky',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 1 },
      policies: { retry: { maxAttempts: 3, baseDelayMs: 100 } },
    };
    const { result } = await run(graph('retries', flaky));
    expect(result).toMatchObject({ status: 'Succeeded' });
  });

  it('a cancel ends an execution that sleeps', async () => {
    const nap = { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 600_000 } };
    const { workflowId } = await pawl.publish(graph('sleeps', nap));
    const { executionId } = await pawl.start(workflowId);
    await pawl.executions.cancel('default', executionId, 'enough');
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Cancelled' });
  });

  it('more nodes than it has lanes for are refused when they are published', async () => {
    const many = Array.from({ length: 101 }, (_, index) =>
      echo(`n${index}`, ...(index < 100 ? [`n${index + 1}`] : [])),
    );
    await expect(
      pawl.publish({ ...(graph('many', ...many) as object), driver: 'conductor' } as Json),
    ).rejects.toMatchObject({
      details: [expect.objectContaining({ code: 'UNSUPPORTED_BY_ENGINE' })],
    });
  });
});
