// The JSON log with exactly its properties, and proof that no secret is written, shown or sent anywhere (S6).

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json/json.ts';
import { defineAction } from '../../src/main.ts';
import { tries } from '../engine/workflow-definition.ts';
import { chain, echo, SECRET, tokenFor, useServer } from '../server/api-server.ts';
import { httpStandin } from '../standin/http-standin.ts';
import { otlpCollector } from './otlp-collector.ts';

const CANARY = 'canary-5f2c-token-of-a-connector';
process.env.CONNECTOR_CANARY_TOKEN = CANARY;
const collector = await otlpCollector();
const sink = await httpStandin(({ headers }) => ({ status: 500, body: { you: headers.authorization } }));
const lines: string[] = [];

/** Mishandles a secret in every way that an action can. */
const careless = defineAction({
  type: 'canary.careless',
  version: '1.0.0',
  connector: 'canary',
  category: 'Test',
  params: z.object({ how: z.enum(['throw', 'log']) }),
  outputs: z.unknown(),
  async run({ how }, { credentials, http, log }) {
    const token = credentials.token('canary')!;
    await http.request({ url: `${sink.url}/?q=1`, headers: { authorization: `Bearer ${token}` } });
    log.info(`using ${token}`, { header: `Bearer ${token}` });
    if (how === 'throw') throw new Error(`refused: Bearer ${token} (${encodeURIComponent(token)})`);
    return { outputs: {} };
  },
});

const server = useServer({
  actions: [careless],
  logTarget: { write: (line: string) => lines.push(line) },
  server: { port: 0, logLevel: 'trace' },
  trace: { endpoint: `${collector.url}/v1/traces`, exportIntervalMs: 10 },
});
afterAll(async () => {
  delete process.env.CONNECTOR_CANARY_TOKEN;
  await collector.standin.close();
  await sink.close();
});

async function run(workflowId: string, body: JsonObject = {}, headers: Record<string, string> = {}): Promise<string> {
  const answer = await server.post(`/api/v1/workflows/${workflowId}/execute`, body, { headers });
  const executionId = answer.body.executionId as string;
  await server.pawl.result(executionId, { tenantId: 'acme' });
  return executionId;
}

const entries = () => lines.map((line) => JSON.parse(line) as JsonObject);

describe('the log', () => {
  it('log lines of an execution and its attempts have exactly the standard properties', async () => {
    const failing = { id: 'bad', actionType: 'core.fail', parameters: { code: 'NO_LUCK' }, ...tries(1) };
    await server.pawl.publish(chain('logged', echo('good'), failing), { tenantId: 'acme' });
    const principal = { userId: 'ada', displayName: 'Ada', email: 'ada@example.com' };
    const executionId = await run('logged', { principal }, { 'x-correlation-id': 'find-me' });
    const common = {
      CorrelationId: 'find-me',
      WorkflowId: 'logged',
      WorkflowVersion: 1,
      ExecutionId: executionId,
      PrincipalUserId: 'ada',
      PrincipalEmail: 'ada@example.com',
      TenantId: 'acme',
    };
    const about = (message: string) =>
      entries().find((entry) => entry.message === message && entry.ExecutionId === executionId);
    expect(about('execution accepted')).toEqual({
      level: 30,
      time: expect.any(String),
      message: expect.any(String),
      ...common,
    });
    const attempt = (nodeId: string) => ({ NodeId: nodeId, AttemptId: '1', Attempt: 1 });
    expect(about('attempt succeeded')).toMatchObject({
      level: 20,
      ...common,
      ...attempt('good'),
      ActionType: 'core.echo',
    });
    expect(about('attempt failed')).toMatchObject({
      level: 40,
      ...common,
      ...attempt('bad'),
      ActionType: 'core.fail',
      ErrorCode: 'NO_LUCK',
    });
    expect(about('execution ended')).toMatchObject({
      ...common,
      NodeId: 'bad',
      Status: 'Failed',
      ErrorCode: 'NO_LUCK',
    });
    expect(entries().every(({ time }) => !Number.isNaN(Date.parse(String(time))))).toBe(true);
  });
});

describe('a secret in a careless action', () => {
  let shown = '';
  beforeAll(async () => {
    for (const how of ['throw', 'log']) {
      const node = { id: 'leak', actionType: 'canary.careless', parameters: { how }, ...tries(1) };
      // The token in the environment belongs to the default tenant alone.
      await server.pawl.publish(chain(`leak-${how}`, node));
      const { executionId } = await server.pawl.start(`leak-${how}`);
      await server.pawl.result(executionId);
      const path = `/api/v1/executions/${executionId}?include=actions,events,resources`;
      shown += JSON.stringify((await server.get(path, { token: await tokenFor({ tenant: 'default' }) })).body);
    }
    shown += JSON.stringify((await server.get('/metrics')).body);
    // A failing request with a token that must not be repeated.
    await server.get('/api/v1/executions/nothing', { token: await tokenFor({ scope: '' }) });
  });

  it('the secret reached the other system, so there was something to leak', () => {
    expect(sink.requests.map(({ headers }) => headers.authorization)).toContain(`Bearer ${CANARY}`);
  });

  it('the secret is in no log line, no answer, no metric and no span', async () => {
    await expect.poll(() => collector.spans.filter(({ name }) => name.startsWith('execution leak')).length).toBe(2);
    expect(shown).toContain('canary.careless');
    for (const secret of [CANARY, SECRET, 'eyJ']) {
      for (const text of [lines.join(''), shown, collector.text()]) expect(text).not.toContain(secret);
    }
  });

  it('the secret is in no table of the database', async () => {
    const client = new pg.Client({ connectionString: server.database.connectionString });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { name } of rows) {
      const found = await client.query(`select 1 from ${name} t where t::text like $1 limit 1`, [`%${CANARY}%`]);
      expect({ name, rows: found.rowCount }).toEqual({ name, rows: 0 });
    }
    await client.end();
  });
});
