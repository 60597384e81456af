// Stands between the runners and the database and breaks connections at exact places. The proxy reads whole batches and whole
// replies, so "the commit happened, but its reply never came" is a fact and not a matter of luck (I18).

import { createServer, type Server, Socket } from 'node:net';
import {
  createFrameReader,
  endsBatch,
  type Frame,
  isError,
  isReadyForQuery,
  standsAlone,
  statementName,
} from './postgres-frames.ts';

export type Fault =
  | { readonly kind: 'none' }
  /** The statement never reaches the server. */
  | { readonly kind: 'cutBefore' }
  /** The server has answered, but the client never gets the answer. */
  | { readonly kind: 'cutAfter' }
  /** The client loses its connection at once, while the server is still working on the statement. */
  | { readonly kind: 'cutDuring' }
  /** The client loses its connection at once, and the statement reaches the server later, when nobody expects it. */
  | { readonly kind: 'cutLate'; readonly ms: number }
  | { readonly kind: 'delayStatement' | 'delayReply'; readonly ms: number };

export interface FaultProxy {
  readonly port: number;
  /** Counts by fault and statement, and for cuts after the statement also by what the server had answered. */
  readonly counts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export async function startFaultProxy(options: {
  readonly databasePort: number;
  readonly choose: (statement: string) => Fault;
}): Promise<FaultProxy> {
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = new Socket();
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    relay(client, upstream, options.choose, count);
    upstream.connect({ port: options.databasePort, host: '127.0.0.1' });
  });
  await new Promise<void>((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1' }, resolve);
  });
  return { port: portOf(server), counts, close: () => closeAll(server, open) };
}

type Reply = 'forward' | 'swallow' | { readonly holdMs: number };

/** One connection. The client sends a batch only after the reply to the batch before, so there is one reply at a time. */
function relay(
  client: Socket,
  upstream: Socket,
  choose: (statement: string) => Fault,
  count: (what: string) => void,
): void {
  const readClient = createFrameReader({ startsUntyped: true });
  const readServer = createFrameReader({ startsUntyped: false });
  let batch: Frame[] = [];
  let reply: Reply = 'forward';
  let held: Buffer[] = [];
  let failed = false;
  let current = '';

  function submit(frames: Frame[]): void {
    const statement = statementName(frames);
    const fault = choose(statement);
    const forward = () => {
      for (const { bytes } of frames) if (upstream.writable) upstream.write(bytes);
    };
    reply = 'forward';
    failed = false;
    current = `${fault.kind} ${statement}`;
    if (fault.kind !== 'none') count(current);
    switch (fault.kind) {
      case 'none':
        return forward();
      case 'cutBefore':
        client.destroy();
        upstream.destroy();
        return;
      case 'cutAfter':
        reply = 'swallow';
        return forward();
      case 'cutDuring':
        reply = 'swallow';
        forward();
        client.destroy();
        return;
      case 'cutLate':
        reply = 'swallow';
        setTimeout(forward, fault.ms);
        client.destroy();
        return;
      case 'delayStatement':
        setTimeout(forward, fault.ms);
        return;
      case 'delayReply':
        reply = { holdMs: fault.ms };
        return forward();
    }
  }

  client.on('data', (chunk) => {
    for (const frame of readClient(chunk)) {
      if (standsAlone(frame)) {
        if (upstream.writable) upstream.write(frame.bytes);
        continue;
      }
      batch.push(frame);
      if (!endsBatch(frame)) continue;
      const complete = batch;
      batch = [];
      submit(complete);
    }
  });

  upstream.on('data', (chunk) => {
    const frames = readServer(chunk);
    failed ||= frames.some(isError);
    const complete = frames.some(isReadyForQuery);
    if (reply === 'forward') {
      if (client.writable) client.write(chunk);
    } else if (reply === 'swallow') {
      if (!complete) return;
      count(`${current} ${failed ? 'refused' : 'done'}`);
      client.destroy();
      upstream.destroy();
    } else {
      held.push(chunk);
      if (!complete) return;
      const chunks = held;
      held = [];
      setTimeout(() => {
        for (const part of chunks) if (client.writable) client.write(part);
      }, reply.holdMs);
    }
  });

  // A server that is still working on a statement is not disturbed. It notices the broken connection when it answers.
  client.on('close', () => {
    if (reply !== 'swallow') upstream.destroy();
  });
  upstream.on('close', () => client.destroy());
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function closeAll(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  for (const socket of open) socket.destroy();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
