// The application that pipelines call in these tests: it answers by path, and remembers the requests.

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { type ReceivedRequest, testServers } from '../../src/action/http/server.testing.ts';
import type { Json } from '../../src/core/json/json.ts';

export interface Shop {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** Sets the answer at a path from now on. The default is 200 and `{}`. */
  answer(path: string, status: number, body: Json): void;
  /** The bodies received at a path, oldest first. */
  bodies(path: string): Json[];
}

export function useShop(): () => Shop {
  const servers = testServers();
  const answers = new Map<string, { status: number; body: Json }>();
  let shop: Shop;
  beforeAll(async () => {
    const { url, received } = await servers.recording((request, response) =>
      reply(answers.get(request.path), response),
    );
    shop = {
      url,
      received,
      answer: (path, status, body) => void answers.set(path, { status, body }),
      bodies: (path) =>
        received.filter((one) => one.path === path).map(({ body }) => (body === '' ? null : JSON.parse(body))),
    };
  });
  afterAll(() => servers.close());
  return () => shop;
}

function reply(answer: { status: number; body: Json } = { status: 200, body: {} }, response: ServerResponse): void {
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer.body));
}
