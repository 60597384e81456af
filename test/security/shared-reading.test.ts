// I22: tenants share the database reads and the background work. Many long queries or many bulk actions of one tenant do not keep
// another tenant waiting behind all of them.

import { expect, it, vi } from 'vitest';
import { createPawl } from '../../src/main.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';

const server = useServer();

it('a tenant whose queries wait for the database keeps no other tenant from it', async () => {
  const [greedy, victim] = [await tokenFor({ tenant: 'greedy' }), await tokenFor({ tenant: 'victim' })];
  await server.pawl.publish(chain('mine', echo('a')), { tenantId: 'victim' });
  await withClient(server.database.connectionString, async (client) => {
    await client.query('begin');
    // Every read of the template sets waits until this lock is released.
    await client.query('lock table template_sets in access exclusive mode');
    const stuck = Array.from({ length: 40 }, () => server.get('/api/v1/templates/sets', { token: greedy }));
    const waiting = async () => {
      await client.query('select pg_stat_clear_snapshot()');
      const { rowCount } = await client.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rowCount;
    };
    await vi.waitUntil(async () => (await waiting()) === 4, { timeout: 10_000 });
    for (let asked = 0; asked < 5; asked++) {
      expect((await server.get('/api/v1/workflows/mine', { token: victim })).status).toBe(200);
    }
    expect(await waiting()).toBe(4);
    await client.query('rollback');
    expect(new Set((await Promise.all(stuck)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

it('I22: bulk actions of one tenant take turns with those of another tenant', async () => {
  const bulk = (tenantId: string, requestId: string) => ({
    ...{ id: crypto.randomUUID(), tenantId, requestId, action: 'cancel', selection: '{"ids":[]}', version: null },
    ...{ reason: 'x', actor: 'x', correlationId: null, count: 0, isCapped: false },
  });
  const progress = { done: 1, failed: 0, skipped: 0, lastError: null, cursor: null, isOver: false, leaseMs: 0 };
  await server.pawl.close();
  const pawl = await createPawl({ database: { url: server.database.connectionString }, runner: false });
  try {
    for (let count = 0; count < 20; count++) await pawl.store.bulkCreate(bulk('greedy', `g${count}`));
    await pawl.store.bulkCreate(bulk('victim', 'v'));
    const claimed: string[] = [];
    for (let count = 0; count < 6; count++) {
      const { id, tenantId } = (await pawl.store.bulkClaim({ leaseMs: 1_000 }))!;
      await pawl.store.bulkProgress({ id, ...progress });
      claimed.push(tenantId);
    }
    expect(claimed.filter((tenant) => tenant === 'victim')).toHaveLength(3);
  } finally {
    await pawl.close();
  }
});
