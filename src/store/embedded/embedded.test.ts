// The embedded PostgreSQL: starts, keeps its data, and recovers from any end of its process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts';

let folder: string;
let running: EmbeddedPostgres[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-embedded-'));
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  await Promise.all(running.map((server) => server.stop()));
  running = [];
  rmSync(folder, { recursive: true, force: true });
});

const QUICK = { fsync: 'off' };

async function start(options: { port?: number; dataDir?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dataDir: join(folder, 'db'), settings: QUICK, ...options });
  running.push(server);
  return server;
}

async function stop(server: EmbeddedPostgres): Promise<void> {
  running = running.filter((other) => other !== server);
  await server.stop();
}

async function query(server: { connectionString: string }, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connectionString);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** A process of its own that starts the database in the folder and then does nothing. */
async function startElsewhere(): Promise<{ process: ChildProcess; connectionString: string; pid: number }> {
  const module = fileURLToPath(new URL('./embedded.ts', import.meta.url));
  const program = `const { startEmbedded } = await import(${JSON.stringify(module)});
    const server = await startEmbedded(${JSON.stringify({ dataDir: join(folder, 'db'), settings: QUICK })});
    console.log(JSON.stringify({ connectionString: server.connectionString, pid: server.pid }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return { process: child, ...JSON.parse(String(line)) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a database in a folder', () => {
  it('a database in a folder is created and reported on first use, and reused at the next start', async () => {
    const steps: string[] = [];
    const first = await startEmbedded({
      dataDir: join(folder, 'db'),
      settings: QUICK,
      onProgress: (step) => steps.push(step),
    });
    running.push(first);
    expect(steps).toEqual(['making a new database', 'starting the database']);
    await query(first, 'create table kept as select 42 as n');
    await stop(first);
    await expect(query(first, 'select 1')).rejects.toThrow();

    const second = await start();
    expect(second.connectionString).toBe(first.connectionString);
    expect(await query(second, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  it('the database is reached by a socket in its folder, and by TCP', async () => {
    const server = await start();
    const address = 'select host(inet_server_addr()) as address';
    expect(await query(server, address)).toEqual([{ address: null }]);
    const [byTcp] = server.connectionString.split('?');
    expect(await query({ connectionString: byTcp! }, address)).toEqual([{ address: '127.0.0.1' }]);
  });

  it('the database uses TCP alone when its folder path is too long for a socket', async () => {
    const server = await start({ dataDir: join(folder, 'deep'.repeat(20), 'db') });
    expect(new URL(server.connectionString).search).toBe('');
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('the database keeps its password private, and refuses connections without it', async () => {
    const server = await start();
    expect(statSync(join(folder, 'db', 'password')).mode & 0o777).toBe(0o600);
    const stranger = new URL(server.connectionString);
    stranger.password = 'guess';
    await expect(query({ connectionString: stranger.href }, 'select 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  it('the database writes to disk before it answers, unless configured otherwise', async () => {
    const server = await startEmbedded({ dataDir: join(folder, 'db') });
    running.push(server);
    const settings = `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`;
    expect((await query(server, settings)).map(({ setting }) => setting)).toEqual(['on', 'on', 'on']);
  });

  it('a second process is refused the folder, and the error names the process that uses it', async () => {
    const other = await startElsewhere();
    await expect(start()).rejects.toThrow(`is in use by process ${other.process.pid}`);
    expect(await query(other, 'select 1 as one')).toEqual([{ one: 1 }]);
    await kill(other.process);
  });

  it('the same process is refused the folder twice', async () => {
    await start();
    await expect(start()).rejects.toThrow(`is in use by process ${process.pid}`);
  });

  it('a taken port is reported, and another one is used if that is allowed', async () => {
    const port = (await start()).port;
    await stop(running[0]!);
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    await expect(start({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
    expect((await start()).port).not.toBe(port);
    squatter.close();
  });

  it('a folder that cannot be created is reported at once, with the reason', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(start({ dataDir: file })).rejects.toThrow(
      'there is a file of that name. Choose another one with --data',
    );
    await expect(start({ dataDir: join(file, 'db') })).rejects.toThrow('is a file');
    // Where mkdir's own recursion never ends.
    if (existsSync('/proc')) {
      await expect(start({ dataDir: '/proc/pawl/db' })).rejects.toThrow('no folder can be made there');
    }
  });

  it('a folder with other files in it is refused', async () => {
    const server = await start();
    await stop(server);
    rmSync(join(folder, 'db', 'cluster', 'PG_VERSION'));
    await expect(start()).rejects.toThrow('is not empty and not a PostgreSQL database');
  });
});

describe('a server that is killed', () => {
  it('a killed server is restarted on the same port with its committed data, until it is stopped', async () => {
    const steps: string[] = [];
    const server = await startEmbedded({
      dataDir: join(folder, 'db'),
      settings: QUICK,
      onProgress: (step) => steps.push(step),
    });
    running.push(server);
    await query(server, 'create table kept as select 42 as n');
    const killed = server.pid;
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => steps.at(-1)).toBe('the database is back');
    expect(server.pid).not.toBe(killed);
    expect(await query(server, 'select n from kept')).toEqual([{ n: 42 }]);

    await stop(server);
    await expect(query(server, 'select 1')).rejects.toThrow();
    expect(steps.filter((step) => step.includes('not by us'))).toHaveLength(1);
  });
});

describe('the database after its process was killed', () => {
  it('the database starts again with its committed data', async () => {
    const other = await startElsewhere();
    await query(other, 'create table kept as select 42 as n');
    await kill(other.process);
    expect(await query(await start(), 'select n from kept')).toEqual([{ n: 42 }]);
  });

  it('the database replaces a server that was left running', async () => {
    const other = await startElsewhere();
    await query(other, 'create table kept as select 42 as n');
    // Its watchdog cannot stop it while it is asleep.
    process.kill(other.pid, 'SIGSTOP');
    await kill(other.process);
    const starting = start();
    process.kill(other.pid, 'SIGCONT');
    const server = await starting;
    expect(server.pid).not.toBe(other.pid);
    expect(await query(server, 'select n from kept')).toEqual([{ n: 42 }]);
  });

  it('the database starts again when its server was killed and its process id is used by another process', async () => {
    const other = await startElsewhere();
    await query(other, 'create table kept as select 42 as n');
    process.kill(other.pid, 'SIGKILL');
    await kill(other.process);
    const lock = join(folder, 'db', 'cluster', 'postmaster.pid');
    const left = readFileSync(lock, 'utf8').split('\n');
    writeFileSync(lock, [String(process.pid), ...left.slice(1)].join('\n'));
    expect(await query(await start(), 'select n from kept')).toEqual([{ n: 42 }]);
  });
});

describe.runIf(process.getuid?.() === 0)('a database started as root', () => {
  it('a database started as root runs under another account', async () => {
    const server = await start();
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0);
  });

  it('the data gets another place when the account cannot reach the folder', async () => {
    chmodSync(folder, 0o700);
    const server = await start();
    const link = join(folder, 'db', 'cluster');
    await query(server, 'create table kept as select 42 as n');
    await stop(server);
    expect(existsSync(join(link, 'PG_VERSION'))).toBe(true);
    expect(await query(await start(), 'select n from kept')).toEqual([{ n: 42 }]);
    await stop(running[0]!);

    // A folder that was deleted and made again is a new database.
    rmSync(join(folder, 'db'), { recursive: true });
    expect(await query(await start(), `select to_regclass('kept') as kept`)).toEqual([{ kept: null }]);
    await stop(running[0]!);
    rmSync(readlinkSync(link), { recursive: true });
  });
});
