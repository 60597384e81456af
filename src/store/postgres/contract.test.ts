// The store's contract on a real PostgreSQL.

import { afterAll, beforeAll } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
import { storeContract } from '../contract.testing.ts';
import { createPostgresStore } from './postgres-store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

storeContract('PostgreSQL', async () => {
  await database.clear();
  return createPostgresStore({ connectionString: database.connectionString });
});
