// Pawl as a Model Context Protocol server: workflows with `expose: { mcp: true }` are tools, and so are commands to look and
// repair. It is a client of the HTTP API, so the API's tokens, scopes, tenants, limits and audit log apply (S1, S2).

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createClient, PawlApiError, type PawlClient } from '../sdk/client.ts';
import { REPAIR_TOOLS } from './repair-tool.ts';
import type { Progress, Tool } from './tool.ts';
import { exposedWorkflow, exposedWorkflows, workflowTool } from './workflow-tool.ts';

export interface McpOptions {
  readonly version: string;
  /** How long a tool call waits for its execution before it answers with the id. Clients give up after a minute. */
  readonly waitMs: number;
}

export function mcpServer(client: PawlClient, { version, waitMs }: McpOptions): Server {
  const server = new Server({ name: 'pawl', version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  const toolsOf = async (): Promise<Tool[]> => {
    const { scopes } = await client.system.session();
    const workflows = await exposedWorkflows(client);
    const tools = [...workflows.map((workflow) => workflowTool(workflow, waitMs)), ...REPAIR_TOOLS];
    return tools.filter(({ scope }) => scopes.includes(scope));
  };
  /** A call looks at the one workflow that it names. */
  const toolNamed = async (name: string): Promise<Tool | undefined> => {
    const { scopes } = await client.system.session();
    const repair = REPAIR_TOOLS.find((tool) => tool.name === name);
    const workflow = repair === undefined ? await exposedWorkflow(client, name) : null;
    const tool = workflow === null ? repair : workflowTool(workflow, waitMs);
    return tool !== undefined && scopes.includes(tool.scope) ? tool : undefined;
  };
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: (await toolsOf()).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: inputSchema as { type: 'object' },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const tool = await toolNamed(params.name);
    if (tool === undefined) return failed(`there is no tool "${params.name}", or your token does not allow it`);
    const token = params._meta?.progressToken;
    const progress: Progress = async (done, total, message) => {
      if (token === undefined) return;
      const told = { progressToken: token, progress: done, total, message };
      await sendNotification({ method: 'notifications/progress', params: told });
    };
    return tool
      .call(client, params.arguments ?? {}, { signal, progress })
      .then((result) => ({ content: [{ type: 'text', text: shortened(result) }] }) satisfies CallToolResult)
      .catch(refused);
  });
  return server;
}

const INSTRUCTIONS =
  'Durable workflows. A tool call that takes long answers with an executionId; describe_execution tells how it goes. Repeating a call within ten minutes with the same arguments is the same execution.';

/** As much as a model reads in one go. */
const MAX_CHARS = 20_000;

function shortened(result: unknown): string {
  const text = JSON.stringify(result, null, 1);
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}\n… cut after ${MAX_CHARS} characters`;
}

function refused(error: unknown): CallToolResult {
  if (!(error instanceof PawlApiError)) throw error;
  const details = error.details === undefined ? '' : `\n${shortened(error.details)}`;
  return failed(`${error.message} [${error.code}]${details}`);
}

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

export interface McpCall extends McpOptions {
  /** The API's address. */
  readonly url: string;
  /** The caller's credentials, passed on to the API. */
  readonly identity: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** One request of the streamable HTTP transport. There is no session: any server may answer the next request. */
export async function answerMcp({ url, identity, headers, body, signal, ...options }: McpCall): Promise<Response> {
  const server = mcpServer(createClient({ url, headers: identity, retries: 0 }), options);
  const transport = new WebStandardStreamableHTTPServerTransport({});
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  signal.addEventListener('abort', () => void server.close(), { once: true });
  return transport.handleRequest(new Request(`${url}/mcp`, { method: 'POST', headers, body }));
}
