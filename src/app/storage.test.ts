import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { claimedIds, newRunner, owning } from '../store/contract/builder.testing.ts';
import type { Store } from '../store/port.ts';
import { createPostgresStore } from '../store/postgres/postgres-store.ts';
import { retireFormerRunners } from './storage.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await testDatabase();
  store = createPostgresStore({ connectionString: database.connectionString });
});
afterAll(async () => {
  await store?.close();
  await database?.drop();
});

it('a start gives up the runners of a gone process, and an execution of several crashes waits', async () => {
  const { ids } = await owning(store, 1);
  await retireFormerRunners(store, 60_000);
  expect(await claimedIds(store, (await newRunner(store)).slot)).toEqual(ids);
  await retireFormerRunners(store, 60_000);
  expect((await store.runnerList()).map(({ state }) => state)).toEqual(['dead', 'dead']);
  expect(await claimedIds(store, (await newRunner(store)).slot)).toEqual([]);
});
