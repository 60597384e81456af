// `pawl migrate`, `pawl doctor`, `pawl keys` and `pawl runner` against a database of their own.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';
import { command, pawl } from './dev-process.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ empty: true });
});
afterAll(() => database.drop());

interface Examination {
  readonly findings: { readonly check: string; readonly ok: boolean }[];
}

const onDatabase = (...args: string[]) => pawl({ DATABASE_URL: database.connectionString }, ...args);

describe('commands for a database', () => {
  it('pawl migrate applies, undoes and lists migrations, and pawl doctor reports them', async () => {
    const before = JSON.parse((await onDatabase('doctor', '--port', '0', '--json')).stdout) as Examination;
    expect(before.findings.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(['migrations']);
    expect((await onDatabase('migrate', 'up')).stdout).toContain('applied 0001_engine');
    expect((await onDatabase('migrate', 'down', '--to', '0')).stdout).toContain('undone 0001_engine');
    expect((await onDatabase('migrate', 'status')).stdout).toMatch(/0001 +engine +pending/);
    await onDatabase('migrate', 'up');
    const after = await onDatabase('doctor', '--port', '0');
    expect(after).toMatchObject({ code: 0 });
    const checks = ['node', 'disk', 'database', 'notifications', 'clock', 'migrations'];
    for (const check of checks) expect(after.stdout).toContain(`✓ ${check}`);
    expect((await onDatabase('migrate', 'down', '--to', 'x')).code).toBe(2);
  });

  it('pawl doctor --smoke runs a plan of three steps from end to end on a runner', async () => {
    const runner = await createPawl({ database: { url: database.connectionString }, isWatched: false });
    const smoke = await onDatabase('doctor', '--port', '0', '--smoke');
    await runner.close();
    expect(smoke).toMatchObject({ code: 0 });
    expect(smoke.stdout).toContain('✓ smoke');
  });

  it('pawl keys creates, lists and revokes keys', async () => {
    const made = await onDatabase(
      'keys',
      'create',
      '--tenant',
      'acme',
      '--name',
      'ci',
      '--scope',
      'workflows:read',
      'workflows:execute',
    );
    expect(made.stdout).toMatch(/^pawl_[\w-]{43}\n$/);
    const { data: keys } = JSON.parse((await onDatabase('keys', 'list', '--tenant', 'acme', '--json')).stdout) as {
      data: { id: string; scopes: string[] }[];
    };
    expect(keys).toMatchObject([{ name: 'ci', scopes: ['workflows:read', 'workflows:execute'] }]);
    expect(JSON.stringify(keys)).not.toContain(made.stdout.trim());
    expect((await onDatabase('keys', 'revoke', keys[0]!.id, '--tenant', 'acme')).stdout).toBe('revoked\n');
    expect(await onDatabase('keys', 'create', '--tenant', 'acme', '--scope', 'everything')).toMatchObject({ code: 2 });
    expect(await onDatabase('keys', 'create', '--tenant', 'acme')).toMatchObject({ code: 2 });
  });

  it('pawl audit verify checks the audit log, and fails when a record was changed', async () => {
    const whole = await onDatabase('audit', 'verify');
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringMatching(/acme +2 +whole +2:[0-9a-f]{64}/)]);
    await withClient(database.connectionString, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query(`update audit_log set actor = 'nobody' where seq = 1`);
    });
    expect(await onDatabase('audit', 'verify', '--tenant', 'acme')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('record 1 was changed'),
    });
    expect((await onDatabase('audit', 'verify', '--head', '1:x')).code).toBe(2);
  });

  it('pawl doctor and pawl migrate say so when there is no database', async () => {
    const nowhere = await pawl({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }, 'doctor');
    expect(nowhere).toMatchObject({ code: 1, stdout: expect.stringContaining('✗ database') });
    expect(await pawl({}, 'migrate', 'up')).toMatchObject({ code: 2, stderr: expect.stringContaining('DATABASE_URL') });
  });
});

describe('pawl runner', () => {
  /** Returns the line that says the runner is ready, and then stops the runner. */
  async function said(environment: Record<string, string>, ...args: string[]): Promise<string> {
    const runner = command(environment, ['runner', ...args]);
    onTestFinished(() => void runner.process.kill('SIGKILL'));
    const ready = () => runner.output.stderr.split('\n').find((line) => line.startsWith('The runner is ready'));
    await expect.poll(ready, { timeout: 30_000 }).toBeDefined();
    runner.process.kill('SIGTERM');
    expect(await runner.finished).toMatchObject({ code: 0 });
    return ready()!;
  }

  it('pawl runner gets ready on the database of its servers', async () => {
    expect(await said({ DATABASE_URL: database.connectionString })).toBe('The runner is ready');
  });

  it('pawl runner on the embedded database says that no server can use it meanwhile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-runner-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    expect(await said({}, '--data', folder)).toMatch(/no server can use meanwhile.*set DATABASE_URL/);
  });
});
