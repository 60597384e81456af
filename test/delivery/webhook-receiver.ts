// The server of a consumer: keeps what it was sent, and answers as the test says.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  /** By default JSON; null: no content type. */
  readonly contentType?: string | null;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: Received[];
  /** How the server answers from now on; a promise makes the sender wait. */
  answer: (received: Received) => Reply | Promise<Reply>;
  /** The next message that arrives. */
  next(): Promise<Received>;
  close(): Promise<void>;
}

export async function webhookReceiver(): Promise<WebhookReceiver> {
  const arrivals: ((received: Received) => void)[] = [];
  const receiver: Pick<WebhookReceiver, 'received' | 'answer'> = { received: [], answer: () => ({ status: 204 }) };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const received = { body, headers: request.headers };
    receiver.received.push(received);
    for (const arrived of arrivals.splice(0)) arrived(received);
    const reply = await receiver.answer(received);
    const { contentType = 'application/json' } = reply;
    response.writeHead(reply.status, contentType === null ? {} : { 'content-type': contentType });
    response.end(reply.body === undefined ? '' : JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/hook`,
    next: () => new Promise<Received>((resolve) => arrivals.push(resolve)),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
