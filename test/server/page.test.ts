// What people read in a browser: the text is about Pawl, not about the documents that Pawl was made from. The pages and files of
// the dashboard come from memory, for everybody, under a policy that lets the browser load nothing from elsewhere.

import { expect, it } from 'vitest';
import { PAGE_PATHS } from '../../src/protocol/page-path.ts';
import { openDashboard } from '../../src/server/page/dashboard.ts';
import { referencePage } from '../../src/server/route/document-routes.ts';
import { useServer } from './api-server.ts';

const server = useServer();

it('the API documents cite nothing that readers do not have', async () => {
  const { body } = await server.get('/api/v1/openapi.json', { token: null });
  for (const text of [JSON.stringify(body), String(referencePage().body)]) {
    expect(text.match(/.{0,60}(§|(?<![\w,.])00[0-4]\b).{0,60}/)?.[0]).toBeUndefined();
  }
});

it.each(PAGE_PATHS)('the dashboard is sent for %s without a token, with a nonce and a strict policy', async (path) => {
  const address = path.replaceAll(/:\w+/g, 'x');
  const { status, headers, body } = await server.get(address, { token: null });
  const policy = headers.get('content-security-policy') ?? '';
  const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? [];
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  expect(String(body)).toContain(`nonce="${nonce}"`);
  expect(String(body)).not.toContain('__PAWL_NONCE__');
  expect(String(body)).not.toMatch(/(?:src|href)="https?:/);
});

it('every page has a nonce of its own', async () => {
  const policies = await Promise.all(
    [1, 2].map(async () => (await server.get('/', { token: null })).headers.get('content-security-policy')),
  );
  expect(policies[0]).not.toBe(policies[1]);
});

it('hashed files are sent compressed and cacheable forever, and unknown files get 404', async () => {
  const { body } = await server.get('/', { token: null });
  const [, file] = /src="(\/assets\/[^"]+\.js)"/.exec(String(body)) ?? [];
  const answer = await fetch(`${server.url}${file}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(answer.headers.get('content-type')).toContain('text/javascript');
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  expect(answer.headers.get('cache-control')).toContain('immutable');
  expect((await answer.text()).length).toBeGreaterThan(1_000);
  for (const missing of ['/assets/nothing.js', '/assets/..%2Findex.html']) {
    expect((await server.get(missing, { token: null })).status).toBe(404);
  }
});

it('the page says how to build the dashboard when it has not been built', () => {
  const { status, body } = openDashboard(new URL('file:///nowhere/')).page();
  expect(status).toBe(200);
  expect(String(body)).toContain('npm run dashboard');
});
