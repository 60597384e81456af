// AI agents as users: the protocol's own client over both transports, on a strict and on a loose server.

import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { createClient } from '../../src/sdk/client.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const server = useServer();
const clients: Client[] = [];

beforeAll(async () => {
  const triggerSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const greet = chain('greet', echo('hello', { text: 'Hello {{ trigger.name }}' }));
  await server.pawl.publish(
    { ...greet, description: 'Greets', triggerSchema, expose: { mcp: true } },
    { tenantId: 'acme' },
  );
  await server.pawl.publish(chain('secret', echo('a')), { tenantId: 'acme' });
  const approval = chain('approval', { id: 'ask', nodeType: 'wait', callback: true }, echo('done', {}));
  await server.pawl.publish({ ...approval, expose: { mcp: true } }, { tenantId: 'acme' });
});

afterAll(async () => {
  for (const client of clients) await client.close().catch(() => {});
});

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'a-test', version: '1.0.0' });
  await client.connect(transport);
  clients.push(client);
  return client;
}

async function overHttp(scope?: readonly string[]): Promise<Client> {
  const token = await tokenFor(scope === undefined ? {} : { scope });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return connected(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }) as Transport);
}

async function overStdio(...args: string[]): Promise<Client> {
  const command = join(import.meta.dirname, '../../bin/pawl');
  const env = { ...(process.env as Record<string, string>), PAWL_URL: server.url, PAWL_TOKEN: await tokenFor() };
  return connected(new StdioClientTransport({ command: process.execPath, args: [command, 'mcp', ...args], env }));
}

const resultOf = (answer: unknown): JsonObject => {
  const { content } = answer as { content: { text: string }[] };
  return JSON.parse(content[0]!.text) as JsonObject;
};

const executionsOf = async (workflowId: string): Promise<JsonObject[]> =>
  (await server.get(`/api/v1/executions?workflowId=${workflowId}`)).body.data as JsonObject[];

describe('an agent', () => {
  it('an agent without a token is refused', async () => {
    const { status } = await server.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { token: null });
    expect(status).toBe(401);
  });

  it('an agent sees exposed workflows with their trigger schema, and the tools that its scopes allow', async () => {
    const { tools } = await (await overHttp()).listTools();
    expect(tools.find(({ name }) => name === 'greet')).toMatchObject({
      description: expect.stringContaining('Greets'),
      inputSchema: { required: ['name'], properties: { name: { type: 'string' } } },
    });
    const names = tools.map(({ name }) => name);
    expect(names).toContain('retry_execution');
    expect(names).not.toContain('secret');
    const reader = await (await overHttp(['workflows:read'])).listTools();
    expect(reader.tools.map(({ name }) => name)).not.toContain('greet');
    expect(reader.tools.map(({ name }) => name)).toContain('describe_execution');
  });

  it.each([
    ['HTTP', () => overHttp()],
    ['standard input and output', () => overStdio()],
  ])('an agent calls a workflow over %s and gets its outputs', async (transport, connect) => {
    const client = await connect();
    const called = await client.callTool({ name: 'greet', arguments: { name: transport } });
    expect(resultOf(called)).toMatchObject({ status: 'Succeeded', outputs: { text: `Hello ${transport}` } });
    const again = await client.callTool({ name: 'greet', arguments: { name: transport } });
    expect(resultOf(again).executionId).toBe(resultOf(called).executionId);
  });

  it('an agent gets every problem of an invalid call and of an invalid definition', async () => {
    const client = await overHttp();
    const wrong = await client.callTool({ name: 'greet', arguments: { name: 17 } });
    expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('TRIGGER_INVALID') }] });
    const { problems } = resultOf(
      await client.callTool({ name: 'validate_definition', arguments: { definition: {} } }),
    );
    expect((problems as unknown[]).length).toBeGreaterThan(0);
  });

  it('an agent whose long call is cut off finds the same execution, and answers its approval', async () => {
    const cut = await overStdio('--wait', '30');
    const gone = new AbortController();
    const told = Promise.withResolvers<void>();
    const calling = cut.callTool({ name: 'approval', arguments: {} }, undefined, {
      signal: gone.signal,
      onprogress: () => told.resolve(),
    });
    await Promise.race([told.promise, calling]);
    gone.abort();
    await expect(calling).rejects.toThrow();
    await cut.close();
    const client = await overStdio('--wait', '0');
    const repeated = resultOf(await client.callTool({ name: 'approval', arguments: {} }));
    const { executionId } = repeated;
    expect(repeated.next).toContain('describe_execution');
    expect(await executionsOf('approval')).toMatchObject([{ executionId }]);
    const answered = await client.callTool({
      name: 'answer_wait',
      arguments: { executionId: executionId!, nodeId: 'ask', payload: { ok: true } },
    });
    expect(answered.isError ?? false).toBe(false);
    await server.pawl.result(executionId as string, { tenantId: 'acme' });
    const described = resultOf(
      await client.callTool({ name: 'describe_execution', arguments: { executionId: executionId! } }),
    );
    expect(described).toMatchObject({ status: 'Succeeded', nodes: expect.arrayContaining([expect.anything()]) });
  });
});

describe('an agent of a loose server', () => {
  let database: TestDatabase;
  let loose: Pawl;

  beforeAll(async () => {
    database = await testDatabase();
    const options = { serve: true, server: { port: 0, logLevel: 'silent' }, auth: { allowLooseAuth: true } } as const;
    loose = await createPawl({ ...options, database: { url: database.connectionString } });
    const approval = chain('approval', { id: 'ask', nodeType: 'wait', callback: true }, echo('done', {}));
    await loose.publish({ ...approval, expose: { mcp: true } });
  });
  afterAll(async () => {
    await loose?.close();
    await database?.drop();
  });

  /** `kill` ends the client as a crash would. */
  async function agent(kind: string): Promise<{ client: Client; kill: () => Promise<void> }> {
    if (kind === 'HTTP') {
      const client = await connected(new StreamableHTTPClientTransport(new URL(`${loose.url}/mcp`)) as Transport);
      return { client, kill: () => client.close() };
    }
    const args = [join(import.meta.dirname, '../../bin/pawl'), 'mcp'];
    const env = { ...(process.env as Record<string, string>), PAWL_URL: loose.url! };
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    const client = await connected(transport);
    return {
      client,
      async kill() {
        process.kill(transport.pid!, 'SIGKILL');
        await client.close().catch(() => {});
      },
    };
  }

  it.each(['HTTP', 'standard input and output'])(
    'an agent killed in the middle of a call over %s finds its execution again',
    async (kind) => {
      const call = { name: 'approval', arguments: { kind } };
      const first = await agent(kind);
      const told = Promise.withResolvers<void>();
      const calling = first.client.callTool(call, undefined, { onprogress: () => told.resolve() });
      calling.catch(() => {});
      await told.promise;
      await first.kill();
      await expect(calling).rejects.toThrow();

      const api = createClient({ url: loose.url! });
      const mine = async () =>
        (await api.executions.list({ workflowId: 'approval' })).data.filter(
          ({ trigger }) => (trigger as { kind: string }).kind === kind,
        );
      const [started] = await mine();
      await api.executions.continueWait(started!.executionId, 'ask', { ok: true });
      const second = await agent(kind);
      const repeated = resultOf(await second.client.callTool(call));
      expect(repeated).toMatchObject({ executionId: started!.executionId, status: 'Succeeded' });
      expect(await mine()).toHaveLength(1);
    },
  );

  it('an agent that publishes a workflow twice makes version 1 and version 2', async () => {
    const { client } = await agent('HTTP');
    const publish = async (text: string) => {
      const definition = chain('by-agent', echo('hello', { text }));
      return resultOf(await client.callTool({ name: 'publish_definition', arguments: { definition } }));
    };
    expect(await publish('one')).toMatchObject({ workflowId: 'by-agent', version: 1 });
    expect(await publish('two')).toMatchObject({ workflowId: 'by-agent', version: 2 });
  });
});
