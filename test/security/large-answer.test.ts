// I21: an answer has a bounded number of bytes, and a way to the rest.

import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';

const server = useServer();

it('a list of executions with large payloads comes in short pages that lead to all of them', async () => {
  await server.pawl.publish(chain('large', echo('a')), { tenantId: 'acme' });
  const ids: string[] = [];
  for (let count = 0; count < 12; count++) {
    const { body } = await server.post('/api/v1/workflows/large/execute', { trigger: { text: 'x'.repeat(900_000) } });
    ids.push(body.executionId as string);
  }
  const found: string[] = [];
  let pages = 0;
  for (let cursor = ''; ; pages++) {
    const { body } = await server.get(`/api/v1/executions?workflowId=large&limit=200${cursor}`);
    expect(JSON.stringify(body).length).toBeLessThan(6 * 1024 * 1024);
    found.push(...(body.data as JsonObject[]).map(({ executionId }) => executionId as string));
    if (body.nextCursor === undefined) break;
    cursor = `&cursor=${body.nextCursor as string}`;
  }
  expect(pages).toBeGreaterThan(1);
  expect(found.toSorted()).toEqual(ids.toSorted());
});

it('attempts are read in pages, and are marked when their parameters are left out for size', async () => {
  const nodes = Array.from({ length: 14 }, (_, index) => echo(`n${index}`, { text: "{{ 'x'.repeat(900000) }}" }));
  await server.pawl.publish(
    { ...chain('wide', ...nodes), snapshot: { maxContextSizeBytes: 100_000_000 } },
    { tenantId: 'acme' },
  );
  const { body: started } = await server.post('/api/v1/workflows/wide/execute', {});
  const id = started.executionId as string;
  await server.pawl.result(id, { tenantId: 'acme' });
  const one = await server.get(`/api/v1/executions/${id}?include=actions&limit=1&offset=3`);
  expect((one.body.actions as JsonObject[]).map(({ nodeId }) => nodeId)).toEqual(['n3']);
  expect((one.body.actions as JsonObject[])[0]).not.toHaveProperty('truncated');
  const all = await server.get(`/api/v1/executions/${id}?include=actions&limit=100`);
  const actions = all.body.actions as JsonObject[];
  expect(actions).toHaveLength(14);
  expect(actions[0]!.parameters).toBeDefined();
  expect(actions.at(-1)).toMatchObject({ nodeId: 'n13', truncated: true });
  const graph = await server.get(`/api/v1/executions/${id}/graph`);
  expect(graph.status).toBe(200);
  const inspection = await server.post(`/engine/runs/${id}/inspect`);
  expect(inspection.status).toBe(200);
});

/** An execution with many attempts of a megabyte each, written directly into the database: running it would take minutes. */
async function withOutputs(workflowId: string, count: number, megabytes = 1): Promise<string> {
  await server.pawl.publish(chain(workflowId, echo('a')), { tenantId: 'acme' });
  const { body } = await server.post(`/api/v1/workflows/${workflowId}/execute`, {});
  const id = body.executionId as string;
  await server.pawl.result(id, { tenantId: 'acme' });
  await withClient(server.database.connectionString, (client) =>
    client.query(
      `insert into action_executions (execution_id, node_id, attempt, action_type, status, started_seq, outputs, started_at, ended_at)
       select $1, 'a', 1 + n, 'core.echo', 'Failed', 1, to_json(repeat('x', $3::int)), now(), now() from generate_series(1, $2::int) n`,
      [id, count, megabytes * 1024 * 1024],
    ),
  );
  return id;
}

it('I21: many readers of a large execution are served one after the other, within bounded memory', {
  timeout: 120_000,
}, async () => {
  const id = await withOutputs('heavy', 16);
  const paths = ['/graph', '?include=actions&limit=1000', '/nodes/a'].map((rest) => `/api/v1/executions/${id}${rest}`);
  const before = process.memoryUsage().heapUsed;
  let highest = 0;
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().heapUsed - before);
  }, 5);
  const asked = Array.from({ length: 18 }, (_, index) => server.ask('HEAD', paths[index % paths.length]!));
  const statuses = new Set((await Promise.all(asked)).map(({ status }) => status));
  clearInterval(watch);
  expect(statuses).toEqual(new Set([200]));
  // All requests at once would need 300 MB of text, and as much again for the values.
  expect(highest / 1024 / 1024).toBeLessThan(280);
  const { body } = await server.get(`/api/v1/executions/${id}?include=actions&limit=1000`);
  const actions = body.actions as JsonObject[];
  expect(actions).toHaveLength(17);
  expect(actions.filter(({ truncated }) => truncated === true).length).toBeGreaterThan(5);
  expect(JSON.stringify(body).length).toBeLessThan(10 * 1024 * 1024);
});

it('I21: an execution too large to read whole is refused, and its parts can be read', async () => {
  const id = await withOutputs('monstrous', 1, 130);
  const refused = await server.post(`/engine/runs/${id}/inspect`);
  expect([refused.status, refused.body]).toMatchObject([
    422,
    { error: { code: 'ANSWER_TOO_LARGE', message: expect.stringContaining('include=actions') } },
  ]);
  expect((await server.get(`/api/v1/executions/${id}/graph`)).status).toBe(200);
  const page = await server.get(`/api/v1/executions/${id}?include=actions&limit=1`);
  expect(page.body.actions).toMatchObject([{ nodeId: 'a', attempt: 1 }]);
});

it('I21: subworkflows with large payloads come in short pages', async () => {
  await server.pawl.publish(chain('child', echo('a')), { tenantId: 'acme' });
  const { body } = await server.post('/api/v1/workflows/child/execute', {});
  const parent = body.executionId as string;
  for (let count = 0; count < 12; count++) {
    const { body: made } = await server.post('/api/v1/workflows/child/execute', { trigger: 'x'.repeat(900_000) });
    await withClient(server.database.connectionString, (client) =>
      client.query(`update workflow_executions set parent_id = $1, parent_node = 'a' where id = $2`, [
        parent,
        made.executionId,
      ]),
    );
  }
  const { body: first } = await server.get(`/api/v1/executions/${parent}?include=children`);
  const shown = (first.children as JsonObject[]).length;
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThan(12);
  const { body: rest } = await server.get(`/api/v1/executions/${parent}?include=children&offset=${shown}`);
  expect((rest.children as JsonObject[]).length).toBe(12 - shown);
});
