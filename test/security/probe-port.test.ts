// Commands that end by themselves open no port, so that they work beside a server that holds the port, as in the image.

import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pawl } from '../cli/dev-process.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
const taken = createServer();
let port: number;
beforeAll(async () => {
  database = await testDatabase();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  port = (taken.address() as { port: number }).port;
});
afterAll(async () => {
  taken.close();
  await database?.drop();
});

const beside = (...args: string[]) =>
  pawl({ DATABASE_URL: database.connectionString, PAWL_PROBE_PORT: String(port) }, ...args);

it('keys can be created and revoked while another process holds the probe port', async () => {
  const made = await beside('keys', 'create', '--tenant', 'acme', '--scope', 'workflows:read', '--json');
  expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 });
  const { id } = JSON.parse(made.stdout) as { id: string };
  expect(await beside('keys', 'revoke', id, '--tenant', 'acme')).toMatchObject({ code: 0 });
});
