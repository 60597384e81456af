// A short siege: beside each attack the victim gets all its answers, and no server error. `npm run siege` measures how long the
// answers take.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { ATTACKS, SIEGE_AUTH, siege } from './siege.ts';

let database: TestDatabase;
let pawl: Pawl;
beforeAll(async () => {
  database = await testDatabase();
  pawl = await createPawl({
    serve: true,
    database: { url: database.connectionString },
    server: { port: 0 },
    auth: SIEGE_AUTH,
    rateLimit: { perTokenPerMinute: 1_000_000, perTokenBurst: 1_000_000 },
    http: { allowLoopback: true },
    engine: { drainMs: 1_000 },
  });
});
afterAll(async () => {
  await pawl?.close();
  await database?.drop();
});

it('I21, I22: a victim beside each kind of attacker is served, without a server error', {
  timeout: 300_000,
}, async () => {
  const rows = await siege(pawl, { seconds: 0.5, rounds: 1 });
  expect(rows.map(({ attack }) => attack)).toEqual(Object.keys(ATTACKS));
  for (const { attack, requests, serverErrors, unfinished } of rows) {
    expect({ attack, isServed: requests > 0, serverErrors, unfinished }).toEqual({
      attack,
      isServed: true,
      serverErrors: 0,
      unfinished: 0,
    });
  }
});
