import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const example = fileURLToPath(new URL('../../examples/lifecycle/loans.ts', import.meta.url));
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ empty: true });
});
afterAll(() => database.drop());

it('the loans example runs as printed on a new database, and again on the same database', async () => {
  const env = { ...process.env, DATABASE_URL: database.connectionString };
  for (let time = 1; time <= 2; time++) {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--no-warnings', example], { env });
    expect(stderr).toBe('');
    expect(stdout).toBe(
      [
        'version 1',
        'true false DuplicateRequest',
        'Ada approved submit → submitted, approve → approved',
        'true false DuplicateRequest',
        'Mallory rejected submit → submitted, reject → rejected',
        '',
      ].join('\n'),
    );
  }
});
