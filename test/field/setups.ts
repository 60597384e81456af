// The databases that platform teams have. Each is brought up as far as this machine allows, and says why when it cannot be.

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateUp, startEmbedded } from '../../src/main.ts';
import { withClient } from '../support/client.ts';
import { findOpenssl, makeCertificates } from './certificates.ts';
import { findDebianPostgres, startDebianPostgres } from './debian-postgres.ts';
import type { FieldDatabase, Fleet } from './field-check.ts';
import { findPgBouncer, startPgBouncer } from './pgbouncer.ts';

export interface Setup {
  readonly name: string;
  /** Why this machine cannot run this database, and what to do; null: it can. */
  missing(): string | null;
  /** Absent: two runners, one of which is killed. */
  readonly fleet?: Fleet;
  /** `adminUrl`: a PostgreSQL in which databases and roles can be created. */
  bringUp(adminUrl: string): Promise<BroughtUp>;
}

export interface BroughtUp {
  readonly database: FieldDatabase;
  /** What happens in the middle of the check. */
  readonly midway?: () => Promise<void>;
  stop(): Promise<void>;
}

const always = () => null;
const needsPgBouncer = () => (findPgBouncer() === null ? 'no PgBouncer: apt-get install pgbouncer' : null);
const needsOpenssl = () => (findOpenssl() ? null : 'no openssl: apt-get install openssl');
const needsDebian = () =>
  findDebianPostgres() === null ? 'no PostgreSQL of Debian: apt-get install postgresql' : null;

export const SETUPS: readonly Setup[] = [
  { name: 'PostgreSQL 18, direct', missing: always, bringUp: (adminUrl) => direct(adminUrl) },
  {
    name: "Debian's PostgreSQL, direct",
    missing: needsDebian,
    async bringUp() {
      const server = await startDebianPostgres();
      return { database: { url: server.connectionString }, stop: () => server.stop() };
    },
  },
  {
    name: 'PgBouncer, session mode',
    missing: needsPgBouncer,
    bringUp: (adminUrl) => pooled(adminUrl, 'session'),
  },
  {
    name: 'PgBouncer, transaction mode, with directUrl',
    missing: needsPgBouncer,
    bringUp: (adminUrl) => pooled(adminUrl, 'transaction'),
  },
  {
    name: 'PgBouncer, transaction mode, that ignores startup parameters, with directUrl',
    missing: needsPgBouncer,
    bringUp: (adminUrl) => pooled(adminUrl, 'transaction', { ignore_startup_parameters: 'options' }),
  },
  { name: 'a role with rights on the tables alone', missing: always, bringUp: tableRights },
  { name: 'a role that owns its schema and may not make one', missing: always, bringUp: ownSchema },
  {
    name: 'a role with repeatable read, asynchronous commit and German dates',
    missing: always,
    bringUp: (adminUrl) =>
      direct(adminUrl, [
        `alter role ROLE set default_transaction_isolation = 'repeatable read'`,
        'alter role ROLE set synchronous_commit = off',
        `alter role ROLE set DateStyle = 'German, DMY'`,
      ]),
  },
  {
    name: 'options in the URL, and a schema of its own',
    missing: always,
    async bringUp(adminUrl) {
      const { database, stop } = await direct(adminUrl);
      const url = new URL(database.url);
      url.searchParams.set('options', '-c work_mem=8MB -c DateStyle=SQL,DMY');
      return { database: { url: url.href, schema: 'second' }, stop };
    },
  },
  { name: 'TLS with verify-full', missing: needsOpenssl, bringUp: encrypted },
  { name: 'a primary that dies, and its standby that is promoted', missing: needsDebian, bringUp: failover },
  {
    name: 'eight runners, four of them killed',
    missing: always,
    fleet: { runners: 8, end: 'killed' },
    bringUp: (adminUrl) => direct(adminUrl),
  },
  {
    name: 'four runners, two of them replaced as in a rolling deployment',
    missing: always,
    fleet: { runners: 4, end: 'replaced' },
    bringUp: (adminUrl) => direct(adminUrl),
  },
];

/** A separate database, owned by a separate role. */
async function direct(adminUrl: string, settings: readonly string[] = []): Promise<BroughtUp> {
  const name = `field_${randomBytes(4).toString('hex')}`;
  const admin = (...statements: string[]) =>
    withClient(adminUrl, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  await admin(
    `create role ${name} login password 'x'`,
    `create database ${name} owner ${name}`,
    ...settings.map((text) => text.replaceAll('ROLE', name)),
  );
  return {
    database: { url: withLogin(adminUrl, name, name) },
    stop: () => admin(`drop database ${name} with (force)`, `drop owned by ${name}`, `drop role ${name}`),
  };
}

function withLogin(adminUrl: string, database: string, role: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  url.username = role;
  url.password = 'x';
  url.search = '';
  return url.href;
}

async function pooled(
  adminUrl: string,
  poolMode: 'session' | 'transaction',
  more: Readonly<Record<string, string>> = {},
): Promise<BroughtUp> {
  const { database, stop } = await direct(adminUrl);
  const settings = { default_pool_size: poolMode === 'session' ? 80 : 10, ...more };
  const pooler = await startPgBouncer({ databaseUrl: database.url, poolMode, settings });
  return {
    database: {
      url: pooler.connectionString,
      ...(poolMode === 'transaction' ? { directUrl: database.url } : {}),
    },
    async stop() {
      await pooler.stop();
      await stop();
    },
  };
}

async function tableRights(adminUrl: string): Promise<BroughtUp> {
  const { database, stop } = await direct(adminUrl);
  await migrateUp({ connectionString: database.url });
  const role = `field_${randomBytes(4).toString('hex')}`;
  await withClient(database.url, async (owner) => {
    await withClient(adminUrl, (client) => client.query(`create role ${role} login password 'x'`));
    await owner.query(`grant usage on schema public to ${role}`);
    await owner.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await owner.query(`grant usage on all sequences in schema public to ${role}`);
  });
  return {
    database: { url: withLogin(adminUrl, new URL(database.url).pathname.slice(1), role) },
    async stop() {
      await stop();
      await withClient(adminUrl, (client) => client.query(`drop role ${role}`));
    },
  };
}

async function ownSchema(adminUrl: string): Promise<BroughtUp> {
  const { database, stop } = await direct(adminUrl);
  const role = `field_${randomBytes(4).toString('hex')}`;
  const name = new URL(database.url).pathname.slice(1);
  const admin = withLogin(adminUrl, name, new URL(adminUrl).username);
  const asAdmin = Object.assign(new URL(admin), { password: new URL(adminUrl).password }).href;
  await withClient(asAdmin, async (client) => {
    await client.query(`create role ${role} login password 'x'`);
    await client.query(`create schema pawl authorization ${role}`);
  });
  return {
    database: { url: withLogin(adminUrl, name, role), schema: 'pawl' },
    async stop() {
      await stop();
      await withClient(adminUrl, (client) => client.query(`drop role ${role}`));
    },
  };
}

async function encrypted(): Promise<BroughtUp> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-field-tls-'));
  chmodSync(folder, 0o755);
  makeCertificates(folder);
  const ssl = { ssl: 'on', ssl_cert_file: join(folder, 'server.crt'), ssl_key_file: join(folder, 'server.key') };
  const settings = { ...ssl, unix_socket_directories: '' };
  const server = await startEmbedded({ dataDir: join(folder, 'data'), settings });
  const url = new URL(server.connectionString);
  url.hostname = 'localhost';
  url.search = String(new URLSearchParams({ sslmode: 'verify-full', sslrootcert: join(folder, 'ca.crt') }));
  return {
    database: { url: url.href },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Commits wait for the standby, so everything acknowledged is there when the standby takes over. */
async function failover(): Promise<BroughtUp> {
  const primary = await startDebianPostgres();
  const standby = await primary.standby();
  return {
    database: { url: `postgres://pawl@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres` },
    async midway() {
      await primary.kill();
      standby.promote();
    },
    async stop() {
      await standby.stop();
      await primary.stop();
    },
  };
}
