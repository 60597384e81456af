// The SDK's client of this server, and the cache of its answers. Only this folder talks to the server.

import { QueryClient } from '@tanstack/react-query';
import { createClient } from '../../../src/sdk/client.ts';
import { readPreference } from './preference.ts';
import { askToSignIn, currentToken } from './session.ts';

/** A request refused for lack of a token waits for one. */
async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const headers = new Headers(init.headers);
    const token = currentToken();
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const tenant = readPreference('tenant');
    if (token === undefined && tenant !== null && tenant !== '') headers.set('x-tenant-id', tenant);
    const answer = await fetch(input, { ...init, headers });
    if (answer.status !== 401) return answer;
    await askToSignIn();
  }
}

export const pawl = createClient({ url: location.origin, fetch: send, retries: 2 });

/** Throws with the server's own words when the token is invalid. Returns a name for it. */
export async function checkToken(token: string): Promise<string> {
  const client = createClient({ url: location.origin, token, retries: 0, fetch: (input, init) => fetch(input, init) });
  const { subject, tenantId } = await client.system.session();
  return `${subject} · ${tenantId}`;
}

const STALE_MS = 2_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: STALE_MS, refetchOnWindowFocus: true },
  },
});
