// Secrets of Pawl's own table, from the API to the request that carries one, and encrypted again with another key while a server
// runs.

import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createPawl } from '../../src/main.ts';
import { chain, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { useRemoteApi } from './remote-api.ts';

const [older, newer] = ['older', 'newer'].map((id) => `${id}=${randomBytes(32).toString('base64')}`) as [
  string,
  string,
];
const server = useServer({ secret: { keys: [older] }, trigger: { enableSchedules: false } });
const remote = useRemoteApi();

const keyIds = () =>
  withClient(server.database.connectionString, async (client) => {
    const { rows } = await client.query<{ key_id: string }>(
      'select key_id from secrets union select key_id from connections',
    );
    return rows.map(({ key_id }) => key_id);
  });

it('a secret that a connection names reaches the request, and a newer key seals it again', async () => {
  const set = await server.ask('PUT', '/api/v1/secrets/crm', { body: { value: 'canary-one' } });
  expect([set.status, set.body]).toMatchObject([200, { name: 'crm', version: 1 }]);
  const token = { provider: 'table', key: 'crm' };
  await server.post('/api/v1/connections', { name: 'crm', connector: 'http', kind: 'token', token });
  const node = { id: 'ask', actionType: 'http.request', connection: 'crm', parameters: { url: remote().url } };
  await server.pawl.publish(chain('ask', node), { tenantId: 'acme' });
  const run = async () => {
    const { executionId } = await server.pawl.start('ask', { tenantId: 'acme' });
    expect(await server.pawl.result(executionId, { tenantId: 'acme' })).toMatchObject({ status: 'Succeeded' });
    return remote().seen.at(-1)!.headers.authorization;
  };
  expect(await run()).toBe('Bearer canary-one');
  expect((await server.get('/api/v1/secrets')).body).toMatchObject({ data: [{ name: 'crm', version: 1 }] });
  expect(await keyIds()).toEqual(['older']);

  const { connectionString: url } = server.database;
  const other = await createPawl({ database: { url }, secret: { keys: [newer, older] }, runner: false });
  try {
    await expect.poll(keyIds).toEqual(['newer']);
    const found = await other.store.secretFind({ tenantId: 'acme', environmentId: 'prod', name: 'crm', version: null });
    expect(found).toMatchObject({ version: 1, sealed: { keyId: 'newer' } });
  } finally {
    await other.close();
  }
});
