import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const run = promisify(execFile);
const example = fileURLToPath(new URL('../../examples/embed/embed.ts', import.meta.url));
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase({ empty: true });
});
afterAll(() => database.drop());

describe('the embedding example', () => {
  it('the embedding example runs as printed on a new database, and again on the same database', async () => {
    const env = { ...process.env, DATABASE_URL: database.connectionString };
    for (let time = 1; time <= 2; time++) {
      const { stdout, stderr } = await run(process.execPath, ['--no-warnings', example], { env });
      expect(stderr).toBe('');
      expect(stdout).toBe(
        [
          'the same execution: true',
          "Succeeded { message: 'Reserved as lamp-2' }",
          "{ message: 'Sorry: there are not 500 of lamp' }",
          '',
        ].join('\n'),
      );
    }
  });
});
