// One embedded PostgreSQL for a run of the tests, with a migrated template that every test file clones (test/support/database.ts).

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/store/embedded/embedded.ts';
import { migrateUp } from '../../src/store/migrate/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    adminUrl: string;
  }
}

export const TEMPLATE_DATABASE = 'pawl_template';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-test-'));
  // The folder is private by default, which would keep out the account that the database runs as when we are root.
  chmodSync(dataDir, 0o755);
  // Nothing here outlives the run, so nothing needs to be written to the disk.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };
  // TCP only: tests put other ports and proxies into the address.
  const server = await startEmbedded({ dataDir, settings: { ...settings, unix_socket_directories: '' } });
  const template = new URL(server.connectionString);
  template.pathname = `/${TEMPLATE_DATABASE}`;

  const admin = new pg.Client({ connectionString: server.connectionString });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  await migrateUp({ connectionString: template.href });

  project.provide('adminUrl', server.connectionString);
  return async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
