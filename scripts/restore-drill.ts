// The restore drill: loses a database on purpose and restores it from a base backup and the archived WAL, to a chosen moment;
// then lets a standby that follows by streaming replication take over. Everything is real: PostgreSQL, the engine, and a consumer
// of events. `npm run drill` prints its steps; a test runs the same drill.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createPawl, type Pawl } from '../src/main.ts';
import { type EmbeddedPostgres, startEmbedded } from '../src/store/embedded/embedded.ts';

const TENANT = 'default';
const QUICK = { fsync: 'off', shared_buffers: '32MB' };

export interface DrillReport {
  /** Executions that had ended by the moment: how many are there after the restore, and how many were expected. */
  readonly kept: readonly [found: number, expected: number];
  /** The number of executions from after the moment, which must be none. */
  readonly later: number;
  /** How the execution that slept at the moment ended. */
  readonly asleep: string;
  /**
   * The events that the consumer got before the moment: how many it got again under the same ids after the restore, and how
   * many there were.
   */
  readonly replayed: readonly [again: number, before: number];
  /** Executions that are nowhere or have no wake-up (I12). */
  readonly violations: number;
  /** What the standby had when it took over, and whether it runs executions since then. */
  readonly standby: { readonly kept: number; readonly runs: string };
}

export async function restoreDrill(say: (step: string) => void = () => {}): Promise<DrillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-drill-'));
  chmodSync(folder, 0o755);
  const archive = join(folder, 'archive');
  mkdirSync(archive, { mode: 0o777 });
  chmodSync(archive, 0o777);
  const running: EmbeddedPostgres[] = [];
  const start = async (name: string, settings: Record<string, string>) => {
    const server = await startEmbedded({ dataDir: join(folder, name), settings: { ...QUICK, ...settings } });
    running.push(server);
    return server;
  };
  try {
    return await drill({ folder, archive, start, say });
  } finally {
    for (const server of running) await server.stop().catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly folder: string;
  readonly archive: string;
  readonly start: (name: string, settings: Record<string, string>) => Promise<EmbeddedPostgres>;
  readonly say: (step: string) => void;
}

async function drill({ folder, archive, start, say }: Place): Promise<DrillReport> {
  say('starting a database that archives its WAL');
  const archiving = { archive_mode: 'on', archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f` };
  const primary = await start('primary', archiving);
  let pawl = await open(primary);
  await pawl.publish(GREET, { tenantId: TENANT });
  await pawl.publish(NAP, { tenantId: TENANT });
  const subscriptions = [{ types: ['RunCompleted'] }];
  await pawl.messaging.consumers.register(TENANT, { code: 'drill', kind: 'pull', subscriptions });
  const kept = await runMany(pawl, 'greet', 5);

  say('taking a base backup while it runs');
  const clusterOf = async () => (await query(primary, 'show data_directory'))[0]!.data_directory as string;
  await baseBackup(primary, await clusterOf(), join(folder, 'base'));

  kept.push(...(await runMany(pawl, 'greet', 5)));
  const { executionId: napping } = await pawl.start('nap', { tenantId: TENANT });
  const before = await delivered(pawl, kept.length);
  await until(async () => (await pawl.executions.get(TENANT, napping)).status === 'Running');
  const moment = (await query(primary, 'select clock_timestamp()::text as at'))[0]!.at as string;
  const later = await runMany(pawl, 'greet', 3);
  await query(primary, 'select pg_switch_wal()');
  await until(
    async () => (await query(primary, 'select archived_count > 0 as done from pg_stat_archiver'))[0]!.done === true,
  );
  await pawl.close();
  say('losing it');
  await primary.stop();

  say(`restoring to ${moment}`);
  restoreFolder(folder, 'base', 'restored');
  signal(join(folder, 'restored', 'cluster'), 'recovery.signal');
  const restored = await start('restored', {
    ...{ restore_command: `cp ${archive}/%f %p`, recovery_target_time: moment, recovery_target_action: 'promote' },
    // Beside what was archived, what the lost server had not filled.
    recovery_target_inclusive: 'off',
  });
  await until(async () => (await query(restored, 'select pg_is_in_recovery() as is'))[0]!.is === false);
  const found = async (ids: readonly string[]) => {
    const list = ids.map((id) => `'${id}'`).join(',');
    return (await query(restored, `select from execution_outcomes where execution_id in (${list})`)).length;
  };
  const counted = { kept: [await found(kept), kept.length] as const, later: await found(later) };
  pawl = await open(restored);
  say('going on: what was asleep wakes, and events that nobody has acknowledged here are sent again');
  const again = await delivered(pawl, before.size);
  const replayed = [[...before].filter((id) => again.has(id)).length, before.size] as const;
  const { status: asleep } = await pawl.result(napping, { tenantId: TENANT });
  const violations = (await pawl.store.queueAudit()).length;
  const standby = await takeOver({ folder, archive, start, say }, restored, pawl);
  return { ...counted, asleep, replayed, violations, standby };
}

/** A standby follows, the primary is lost, and the standby goes on. */
async function takeOver({ folder, start, say }: Place, primary: EmbeddedPostgres, pawl: Pawl) {
  say('a standby follows by streaming replication');
  const cluster = (await query(primary, 'show data_directory'))[0]!.data_directory as string;
  await baseBackup(primary, cluster, join(folder, 'standby-base'));
  restoreFolder(folder, 'standby-base', 'standby', 'restored');
  signal(join(folder, 'standby', 'cluster'), 'standby.signal');
  const { password, port } = new URL(primary.connectionString);
  const conninfo = `host=127.0.0.1 port=${port} user=pawl password=${password}`;
  const standby = await start('standby', { primary_conninfo: conninfo, hot_standby: 'on' });
  const ids = await runMany(pawl, 'greet', 3);
  const list = ids.map((id) => `'${id}'`).join(',');
  const has = async () =>
    (await query(standby, `select from execution_outcomes where execution_id in (${list})`)).length;
  await until(async () => (await has()) === ids.length);
  await pawl.close();
  await primary.stop();
  say('the standby takes over');
  await query(standby, 'select pg_promote()');
  const promoted = await open(standby);
  const [one] = await runMany(promoted, 'greet', 1);
  const kept = await has();
  const { status: runs } = await promoted.executions.get(TENANT, one!);
  await promoted.close();
  return { kept, runs };
}

/** Uses the low-level API, because the embedded PostgreSQL has no pg_basebackup. */
async function baseBackup(server: EmbeddedPostgres, cluster: string, target: string): Promise<void> {
  const client = new pg.Client(server.connectionString);
  await client.connect();
  try {
    await client.query("select pg_backup_start('drill', true)");
    mkdirSync(target);
    execFileSync('cp', ['-a', cluster, join(target, 'cluster')]);
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    const copy = join(target, 'cluster');
    for (const name of readdirSync(join(copy, 'pg_wal'))) rmSync(join(copy, 'pg_wal', name), { recursive: true });
    rmSync(join(copy, 'postmaster.pid'), { force: true });
    writeOwned(join(copy, 'backup_label'), rows[0].labelfile as string, copy);
    await client.query('select pg_switch_wal()');
  } finally {
    await client.end();
  }
}

/** The folder of a server that was never started: it has the password of the old server and the copied cluster. */
function restoreFolder(folder: string, backup: string, name: string, passwordOf = 'primary'): void {
  mkdirSync(join(folder, name), { mode: 0o755 });
  cpSync(join(folder, passwordOf, 'password'), join(folder, name, 'password'));
  execFileSync('cp', ['-a', join(folder, backup, 'cluster'), join(folder, name, 'cluster')]);
}

const signal = (cluster: string, name: string): void => writeOwned(join(cluster, name), '', cluster);

function writeOwned(file: string, text: string, like: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  const { uid, gid } = statSync(like);
  execFileSync('chown', [`${uid}:${gid}`, file]);
}

const GREET = {
  id: 'greet',
  displayName: 'Greet',
  startNode: 'a',
  nodes: [{ id: 'a', actionType: 'core.echo', parameters: {} }],
};
const NAP = {
  ...{ id: 'nap', displayName: 'Nap', startNode: 'a' },
  nodes: [{ id: 'a', actionType: 'core.delay', parameters: { durationMs: 5_000 } }],
};

const open = (server: EmbeddedPostgres): Promise<Pawl> =>
  createPawl({ database: { url: server.connectionString }, delivery: { deliveredAfterMs: 200 } });

async function runMany(pawl: Pawl, workflowId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let started = 0; started < count; started++)
    ids.push((await pawl.start(workflowId, { tenantId: TENANT })).executionId);
  await Promise.all(ids.map((executionId) => pawl.result(executionId, { tenantId: TENANT })));
  return ids;
}

/** The ids of `count` events that the consumer gets. It acknowledges none, so each event is sent again. */
async function delivered(pawl: Pawl, count: number): Promise<Set<string>> {
  const ids = new Set<string>();
  while (ids.size < count) {
    const given = await pawl.messaging.deliveries.pull(TENANT, 'drill', { limit: 100, waitMs: 1_000 });
    for (const { ackGuid } of given) ids.add(ackGuid);
  }
  return ids;
}

async function query(server: EmbeddedPostgres, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connectionString);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(50);
}

if (import.meta.main) {
  const report = await restoreDrill((step) => console.log(`• ${step}`));
  console.log(JSON.stringify(report, null, 2));
}
