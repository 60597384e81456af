// `/mcp`: the Model Context Protocol over streamable HTTP. This file only translates. The application supplies the answering function,
// which calls the API with the caller's own token.

import type { IncomingHttpHeaders } from 'node:http';
import type { RouteParts } from '../parts.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';

export interface McpRequest {
  readonly url: string;
  readonly identity: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export type AnswerMcp = (request: McpRequest) => Promise<Response>;

const IDENTITY = ['authorization', 'x-api-key', 'x-tenant-id', 'x-correlation-id'];
const OF_THE_PROTOCOL = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-session-id'];

export function mcpRoutes({ mcp, ownUrl }: Pick<RouteParts, 'mcp' | 'ownUrl'>): RouteSpec[] {
  if (mcp === undefined) return [];
  return [
    defineRoute({
      method: 'POST',
      path: '/mcp',
      summary:
        'The Model Context Protocol (streamable HTTP): exposed workflows as tools, and tools to inspect and repair executions',
      tag: 'Agents',
      access: 'authenticated',
      bodyKind: 'raw',
      // Described by its own protocol.
      isPage: true,
      sends: 'text/event-stream',
      responses: { 200: null, 202: null },
      async handle({ headers, rawBody, signal }): Promise<Answer> {
        const told = await mcp({
          url: ownUrl(),
          identity: only(headers, IDENTITY),
          headers: only(headers, OF_THE_PROTOCOL),
          body: rawBody.toString('utf8'),
          signal,
        });
        const contentType = told.headers.get('content-type');
        const sent = {
          status: told.status,
          ...(contentType === null ? {} : { headers: { 'content-type': contentType } }),
        };
        if (told.body === null) return sent;
        return told.status === 200 ? { ...sent, stream: told.body } : { ...sent, body: await told.text() };
      },
    }),
  ];
}

function only(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}
