// Answers `/mcp`. The protocol's package is an optional peer: it is loaded when the first agent calls.

import packageJson from '../../package.json' with { type: 'json' };
import { PawlError } from '../core/error/pawl-error.ts';
import type { AnswerMcp } from '../server/route/mcp-routes.ts';

/** Agents give up after a minute; half of that leaves time for the answer. */
const WAIT_MS = 25_000;

export const answerAgents: AnswerMcp = async (request) => {
  const { answerMcp } = await import('../mcp/mcp-server.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new PawlError('UNAVAILABLE', 'to answer AI agents, install @modelcontextprotocol/sdk beside pawl');
  });
  return answerMcp({ ...request, version: packageJson.version, waitMs: WAIT_MS });
};
