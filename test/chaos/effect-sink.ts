// The outside world: an HTTP server that remembers every side effect. When an effect arrives, the server asks the database at
// once, past the proxy, whether the start of that attempt is durable. Later would be too late to tell (I2).

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Effect } from './effect-action.ts';
import type { Violation } from './violation.ts';

export interface EffectSink {
  readonly url: string;
  readonly effects: readonly Effect[];
  readonly violations: readonly Violation[];
  /** Effects whose start could not be looked up, because the database was away. */
  readonly unasked: () => number;
  close(): Promise<void>;
}

export async function startEffectSink(options: {
  /** Undefined: the database does not answer now. */
  readonly isStarted: (effect: Effect) => Promise<boolean | undefined>;
}): Promise<EffectSink> {
  const effects: Effect[] = [];
  const violations: Violation[] = [];
  let unasked = 0;
  const server = createServer(async (request, response) => {
    const effect = await readEffect(request);
    if (effect !== null) {
      effects.push(effect);
      const started = await options.isStarted(effect);
      if (started === undefined) unasked++;
      if (started === false) {
        const what = `${effect.nodeId}, attempt ${effect.attempt ?? '?'}, ran before its NodeStarted was durable`;
        violations.push({ invariant: 'I2', executionId: effect.executionId, what, evidence: effect });
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1' }, resolve);
  });
  return { url: urlOf(server), effects, violations, unasked: () => unasked, close: () => closeServer(server) };
}

async function readEffect(request: IncomingMessage): Promise<Effect | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The runner was killed in the middle of a request, so nothing has arrived that anybody could act on.
    return null;
  }
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return JSON.parse(Buffer.concat(chunks).toString()) as Effect;
  const [executionId = '', nodeId = ''] = key.split(':');
  return { executionId, nodeId, attempt: null, key, runner: null, begunAt: null };
}

function urlOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/effects`;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
