// HTTP clients for tests, closed after each test. No name is looked up outside: a test that needs one brings its own answers.

import { afterEach } from 'vitest';
import { type ClosableHttpClient, createHttpClient, type HttpClientOptions } from './client.ts';
import { resolveNothing } from './server.testing.ts';

/** Makes clients; `local` ones may reach this machine. */
export function testClients() {
  const clients: ClosableHttpClient[] = [];
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
  const clientWith = (options: HttpClientOptions = {}): ClosableHttpClient => {
    const client = createHttpClient({ resolve: resolveNothing, ...options });
    clients.push(client);
    return client;
  };
  return { clientWith, local: (options: HttpClientOptions = {}) => clientWith({ allowLoopback: true, ...options }) };
}
