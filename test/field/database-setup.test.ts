// Databases as administrators set them up: restricted roles, roles with their own settings, URLs with options, another process
// that migrates. Pawl itself sets everything that it relies on.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPawl, inspectDatabase, migrateUp } from '../../src/main.ts';
import { openEngineDatabase } from '../../src/store/postgres/database.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { command, pawl } from '../cli/dev-process.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ empty: true });
});
afterAll(() => database.drop());

const asOwner = (...statements: string[]) =>
  withClient(database.connectionString, async (client) => {
    for (const statement of statements) await client.query(statement);
  });

/** A separate role for each test, with the URL to connect as that role. */
async function newRole(...statements: string[]): Promise<{ role: string; url: string }> {
  const role = `role_${randomBytes(4).toString('hex')}`;
  await asOwner(`create role ${role} login password 'x'`, ...statements.map((text) => text.replaceAll('ROLE', role)));
  onTestFinished(() => asOwner(`drop owned by ${role} cascade`, `drop role ${role}`));
  const url = new URL(database.connectionString);
  url.username = role;
  url.password = 'x';
  return { role, url: url.href };
}

const GREETING = {
  id: 'greeting',
  displayName: 'Greeting',
  startNode: 'hello',
  nodes: [{ id: 'hello', actionType: 'core.echo', parameters: { to: '{{ trigger.name }}' } }],
};

async function greets(options: { url: string; schema: string }): Promise<void> {
  const opened = await createPawl({ database: options });
  try {
    await opened.publish(GREETING);
    const { executionId } = await opened.start('greeting', { trigger: { name: 'you' } });
    expect(await opened.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { to: 'you' } });
  } finally {
    await opened.close();
  }
}

const setting = async (url: string, name: string) => {
  const engine = openEngineDatabase({
    ...{ connectionString: url, schema: 'public', maxConnections: 1 },
    ...{ applicationName: 'pawl test', queryTimeoutMs: 5_000 },
  });
  try {
    return await engine.transaction(async (session) => {
      const [row] = await session.run<{ value: string }>({ name: '', text: 'select current_setting($1) as value' }, [
        name,
      ]);
      return row!.value;
    });
  } finally {
    await engine.close();
  }
};

describe('a restricted role', () => {
  it('a role that owns its schema and cannot create one can migrate and serve', async () => {
    const { role, url } = await newRole('create schema own_one authorization ROLE');
    onTestFinished(() => asOwner('drop schema if exists own_one cascade'));
    await greets({ url, schema: 'own_one' });
    expect(await inspectDatabase({ connectionString: url, schema: 'own_one' })).toMatchObject({
      role,
      hasSchema: true,
      mayCreate: true,
    });
  });

  it('a role with rights on the tables alone can serve a database that another role has migrated', async () => {
    await migrateUp({ connectionString: database.connectionString, schema: 'theirs' });
    onTestFinished(() => asOwner('drop schema theirs cascade'));
    const { url } = await newRole(
      'grant usage on schema theirs to ROLE',
      'grant select, insert, update, delete on all tables in schema theirs to ROLE',
      'grant usage on all sequences in schema theirs to ROLE',
    );
    await greets({ url, schema: 'theirs' });
    const doctor = await pawl({ DATABASE_URL: url, PAWL_DATABASE_SCHEMA: 'theirs' }, 'doctor', '--port', '0');
    expect(doctor.stdout).toMatch(/✓ rights.*need not: none is missing/);
  });

  it('a role without rights is told which schema it cannot use, and what to do', async () => {
    const { role, url } = await newRole();
    const environment = { DATABASE_URL: url, PAWL_DATABASE_SCHEMA: 'nowhere' };
    const migrated = await pawl(environment, 'migrate', 'up');
    expect(migrated).toMatchObject({ code: 2 });
    expect(migrated.stderr).toMatch(/"nowhere"/);
    const doctor = await pawl(environment, 'doctor', '--port', '0');
    expect(doctor.stdout).toMatch(/✗ rights +there is no schema nowhere/);
    expect(doctor.stdout).toContain(`CREATE SCHEMA "nowhere" AUTHORIZATION "${role}"`);
  });
});

describe('a role with settings of its own', () => {
  it('a role with another isolation level gets the isolation of Pawl in every transaction', async () => {
    const { url } = await newRole(`alter role ROLE set default_transaction_isolation = 'repeatable read'`);
    expect(await setting(url, 'transaction_isolation')).toBe('read committed');
  });

  it('a role with another synchronous_commit gets that of Pawl, unless it may keep its own', async () => {
    const { url } = await newRole(
      'alter role ROLE set synchronous_commit = off',
      'create schema loose authorization ROLE',
    );
    expect(await setting(url, 'synchronous_commit')).toBe('on');
    const open = async (allowAsyncCommit: boolean) => {
      const { store, isAsync } = await openPostgresStore({ connectionString: url, allowAsyncCommit });
      await store.close();
      return isAsync;
    };
    expect(await open(false)).toBe(false);
    expect(await open(true)).toBe(true);
    const environment = { DATABASE_URL: url, PAWL_DATABASE_ALLOW_ASYNC_COMMIT: 'true' };
    const doctor = await pawl(environment, 'doctor', '--port', '0');
    expect(doctor.stdout).toMatch(/✗ settings +synchronous_commit is off/);
    onTestFinished(() => asOwner('drop schema if exists loose cascade'));
    const lines: string[] = [];
    const logTarget = { write: (line: string) => void lines.push(line) };
    for (const allowAsyncCommit of [false, true]) {
      const options = { url, schema: 'loose', allowAsyncCommit };
      await (await createPawl({ database: options, runner: false, logTarget })).close();
    }
    expect(lines.filter((line) => line.includes('synchronous_commit is off'))).toHaveLength(1);
  });
});

describe('options in the URL', () => {
  const withOptions = (options: string) => {
    const url = new URL(database.connectionString);
    url.searchParams.set('options', options);
    return url.href;
  };

  it('options in the URL are kept, but those of Pawl win', async () => {
    const url = withOptions('-c DateStyle=German,DMY -c work_mem=9MB');
    expect(await setting(url, 'work_mem')).toBe('9MB');
    expect(await setting(url, 'DateStyle')).toBe('ISO, MDY');
    await greets({ url, schema: 'second' });
    const tables = await withClient(database.connectionString, (client) =>
      client.query(`select to_regclass('second.workflow_executions') is not null as second,
        to_regclass('public.workflow_executions') is not null as public`),
    );
    expect(tables.rows).toEqual([{ second: true, public: false }]);
  });

  it('a search_path in the URL is refused', async () => {
    const refused = await pawl({ DATABASE_URL: withOptions('-c search_path=other') }, 'migrate', 'up');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('database.schema') });
  });
});

describe('connections', () => {
  it('the doctor counts only the connections that the role may open', async () => {
    const { url } = await newRole('alter role ROLE connection limit 16', 'create schema few authorization ROLE');
    onTestFinished(() => asOwner('drop schema if exists few cascade'));
    const doctor = await pawl({ DATABASE_URL: url, PAWL_DATABASE_SCHEMA: 'few' }, 'doctor', '--port', '0');
    expect(doctor.stdout).toMatch(/✗ connections +16 of \d+ can be used .*; one process takes up to 17/);
    expect(doctor.stdout).toMatch(/lower PAWL_DATABASE_MAX_CONNECTIONS/);
    const smaller = { DATABASE_URL: url, PAWL_DATABASE_SCHEMA: 'few', PAWL_DATABASE_MAX_CONNECTIONS: '8' };
    expect((await pawl(smaller, 'doctor', '--port', '0')).stdout).toMatch(/✓ connections +16 of/);
  });

  it('the doctor compares the connections of all live runners with the limit of the server', async () => {
    await migrateUp({ connectionString: database.connectionString, schema: 'fleet' });
    onTestFinished(() => asOwner('drop schema fleet cascade'));
    const { store } = await openPostgresStore({ connectionString: database.connectionString, schema: 'fleet' });
    for (let n = 0; n < 60; n++) await store.runnerRegister({ name: `r${n}`, slots: 1, leaseMs: 60_000 });
    await store.close();
    const environment = { DATABASE_URL: database.connectionString, PAWL_DATABASE_SCHEMA: 'fleet' };
    const doctor = await pawl(environment, 'doctor', '--port', '0');
    expect(doctor.stdout).toMatch(/✗ connections .*60 live runners with up to 17 each/);
  });
});

describe('another process that migrates', () => {
  it('a waiting process names the process that migrates, and a signal ends the waiting', {
    timeout: 60_000,
  }, async () => {
    await withClient(database.connectionString, async (holder) => {
      await holder.query(`set application_name = 'somebody else'`);
      await holder.query('select pg_advisory_lock(7296150411)');
      const environment = { DATABASE_URL: database.connectionString, PAWL_DATABASE_SCHEMA: 'held' };
      const server = command(environment, ['serve', '--insecure', '--port', '0']);
      const migration = command(environment, ['migrate', 'up']);
      onTestFinished(() => void server.process.kill('SIGKILL'));
      onTestFinished(() => void migration.process.kill('SIGKILL'));
      for (const { output } of [server, migration]) {
        await expect
          .poll(() => output.stderr, { timeout: 30_000 })
          .toMatch(/waiting for another migration of this database: server process \d+ \(somebody else\)/);
      }
      server.process.kill('SIGTERM');
      migration.process.kill('SIGTERM');
      expect(await server.finished).toMatchObject({ code: 0 });
      await migration.finished;
      expect(migration.process.signalCode).toBe('SIGTERM');
    });
  });
});

it('the doctor reports a database in another encoding', async () => {
  const name = `latin_${randomBytes(4).toString('hex')}`;
  await asOwner(`create database ${name} encoding 'LATIN1' template template0 locale 'C'`);
  onTestFinished(() => asOwner(`drop database ${name} with (force)`));
  const url = new URL(database.connectionString);
  url.pathname = `/${name}`;
  const doctor = await pawl({ DATABASE_URL: url.href }, 'doctor', '--port', '0');
  expect(doctor.stdout).toMatch(/✗ encoding +LATIN1/);
});

it('the doctor reports a database that is newer than the program', async () => {
  await migrateUp({ connectionString: database.connectionString, schema: 'newer' });
  await asOwner(`insert into newer.schema_version (version, name, checksum) values (9999, 'future', 'x')`);
  const environment = { DATABASE_URL: database.connectionString, PAWL_DATABASE_SCHEMA: 'newer' };
  const doctor = await pawl(environment, 'doctor', '--port', '0');
  expect(doctor.stdout).toMatch(/✗ migrations +the database is newer than this program: it also has future/);
});
