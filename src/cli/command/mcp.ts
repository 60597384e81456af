// `pawl mcp`: the Model Context Protocol over standard input and output, for an agent on this machine. It talks to a server.

import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { mcpServer } from '../../mcp/mcp-server.ts';
import { type ClientFlags, connect } from '../server-client.ts';

interface McpFlags extends ClientFlags {
  readonly wait: string;
}

export function register(program: Command): void {
  program
    .command('mcp')
    .description('offer the workflows of a server to an AI agent (Model Context Protocol, standard input and output)')
    .option('--url <url>', 'the server (PAWL_URL, or http://127.0.0.1:7295)')
    .option('--wait <seconds>', 'seconds that a tool call waits for its workflow', '25')
    .action(mcp);
}

async function mcp(flags: McpFlags): Promise<void> {
  const server = mcpServer(connect(flags), { version: packageJson.version, waitMs: Number(flags.wait) * 1_000 });
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}
