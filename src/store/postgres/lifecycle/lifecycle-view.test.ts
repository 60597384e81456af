// The views of lifecycles and deliveries that people query with SQL, and the rows that an import makes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../../test/support/database.ts';
import { newId, TENANT } from '../../contract/builder.testing.ts';
import { ack, claimDeliveries, loanMachine, newConsumer, submitted } from '../../contract/messaging.testing.ts';
import type { Store } from '../../port.ts';
import { createPostgresStore } from '../postgres-store.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await testDatabase();
  store = createPostgresStore({ connectionString: database.connectionString });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const query = async (text: string): Promise<Record<string, unknown>[]> =>
  withClient(database.connectionString, async (client) => (await client.query(text)).rows);

describe('lifecycles in SQL', () => {
  it('lifecycle machines are shown as rows', async () => {
    await store.lifecycleImport(loanMachine());
    expect(
      await query(`select name, is_initial, is_final, timeout_ms, timeout_event from lifecycle_states order by name`),
    ).toEqual([
      { name: 'approved', is_initial: false, is_final: true, timeout_ms: null, timeout_event: null },
      { name: 'draft', is_initial: true, is_final: false, timeout_ms: null, timeout_event: null },
      { name: 'submitted', is_initial: false, is_final: false, timeout_ms: '172800000', timeout_event: 'remind' },
    ]);
    expect(await query('select from_state, event, to_state from lifecycle_transitions')).toHaveLength(3);
    expect(await query('select code::int from lifecycle_events order by code')).toEqual([
      { code: 1000 },
      { code: 1001 },
      { code: 1002 },
    ]);
    expect(
      await query('select policy, hook, workflow, consumers, on_succeeded from lifecycle_routes order by ordinal'),
    ).toEqual([
      { policy: 'check', hook: 'verify', workflow: null, consumers: ['kyc', 'audit'], on_succeeded: 'approve' },
      { policy: 'check', hook: null, workflow: 'notify', consumers: [], on_succeeded: null },
    ]);
  });

  it('instances, timelines, activities and deliveries are shown by name', async () => {
    const kyc = await newConsumer(store, 'kyc');
    const { move, messages } = await submitted(store, [kyc]);
    const activity = { activity: 'call', status: 'done', actor: 'bob', payload: null };
    await store.activityAdd({ tenantId: TENANT, instanceId: move.instanceId, activityId: newId(), ...activity });
    await claimDeliveries(store, kyc);
    await ack(store, messages[0]!.ackGuid, kyc, { stage: 'Delivered' });
    expect(
      await query('select tenant_id, env, definition, external_ref, state, is_final from lifecycle_instances_view'),
    ).toEqual([
      { tenant_id: TENANT, env: 'prod', definition: 'loan', external_ref: 'L-1', state: 'submitted', is_final: false },
    ]);
    expect(await query('select external_ref, kind, event from lifecycle_timeline_view order by id')).toEqual([
      { external_ref: 'L-1', kind: 'transition', event: 'submit' },
      { external_ref: 'L-1', kind: 'activity', event: null },
    ]);
    expect(await query('select external_ref, activity, status, actor from lifecycle_activities')).toEqual([
      { external_ref: 'L-1', activity: 'call', status: 'done', actor: 'bob' },
    ]);
    expect(await query('select consumer, kind, source, event, stage, attempts from deliveries_view')).toEqual([
      { consumer: 'kyc', kind: 'transition', source: 'loan', event: 'submit', stage: 'Delivered', attempts: 1 },
    ]);
  });
});
