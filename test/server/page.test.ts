// What people read in a browser: it speaks of Pawl, not of the documents that Pawl was made from, and its script asks only
// for elements that are there.

import { expect, it } from 'vitest';
import { homePage } from '../../src/server/page/home.ts';
import { referencePage } from '../../src/server/page/reference.ts';
import { useServer } from './api-server.ts';

const server = useServer();

it('cites nothing that readers do not have', async () => {
  const { body } = await server.get('/api/v1/openapi.json', { token: null });
  for (const text of [JSON.stringify(body), String(homePage().body), String(referencePage().body)]) {
    expect(text.match(/.{0,60}(§|(?<![\w,.])00[0-4]\b).{0,60}/)?.[0]).toBeUndefined();
  }
});

it('has every element that its script asks for', () => {
  const html = String(homePage().body);
  const asked = [...html.matchAll(/byId\('([a-z-]+)'\)/g)].map(([, id]) => id!);
  expect(asked.length).toBeGreaterThan(20);
  for (const id of asked) expect(html).toContain(`id="${id}"`);
});
