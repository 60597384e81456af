import { describe, expect, it } from 'vitest';
import { guardedFetch } from './guarded-fetch.ts';
import type { HttpClient } from './http-client.ts';

type Sent = Parameters<HttpClient['request']>[0];

function client(status: number, body = ''): { http: HttpClient; sent: Sent[] } {
  const sent: Sent[] = [];
  const request = async (asked: Sent) => {
    sent.push(asked);
    return {
      status,
      headers: { 'x-answer': 'yes' },
      body: Buffer.from(body),
      truncated: false,
      url: String(asked.url),
    };
  };
  return { http: { request }, sent };
}

describe('fetch over the guarded client', () => {
  it('fetch passes on method, headers, body and signal, and its own headers take precedence', async () => {
    const { http, sent } = client(200, '{"a":1}');
    const { signal } = new AbortController();
    const fetch = guardedFetch(http, { headers: { 'x-acting-user-id': 'U1' }, maxBytes: 10 });
    const headers = { 'Content-Type': 'text/plain', 'X-Acting-User-Id': 'somebody' };
    const answer = await fetch(new URL('https://example.com/a'), { method: 'POST', headers, body: 'hello', signal });
    expect(sent).toEqual([
      {
        url: 'https://example.com/a',
        method: 'POST',
        headers: { 'content-type': 'text/plain', 'x-acting-user-id': 'U1' },
        body: 'hello',
        signal,
        maxBytes: 10,
      },
    ]);
    expect(answer.headers.get('x-answer')).toBe('yes');
    expect(await answer.json()).toEqual({ a: 1 });
  });

  it.each([204, 304])('a response with status %i has no body', async (status) => {
    const answer = await guardedFetch(client(status).http)('https://example.com');
    expect([answer.status, await answer.text()]).toEqual([status, '']);
  });

  it('fetch refuses a body that is not text', async () => {
    const { http, sent } = client(200);
    await expect(guardedFetch(http)('https://example.com', { method: 'POST', body: new FormData() })).rejects.toThrow(
      'text',
    );
    expect(sent).toEqual([]);
  });
});
