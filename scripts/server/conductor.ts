// Conductor OSS on PostgreSQL, assembled from Maven Central by the recipe in conductor/: its Apache-licensed modules and Spring
// Boot. It needs a JDK of version 21 or newer. It has its own embedded PostgreSQL.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/main.ts';
import { cacheFolder, inPath, type Obtained, runProgram, type Server, startListening } from './server.ts';

const VERSION = '3.32.3';
const FOLDER = cacheFolder(`conductor-${VERSION}`);
const RECIPE = join(import.meta.dirname, 'conductor');
const JVM_FOLDER = '/usr/lib/jvm';
const OLDEST_JDK = 21;

export const conductor: Server = {
  name: 'conductor',
  use: 'the Conductor driver',
  port: 8080,
  find: () => (existsSync(join(FOLDER, 'target', 'conductor-pg.jar')) && newJdk() !== null ? FOLDER : null),
  obtain,
  async start(folder, { port, data = mkdtempSync(join(tmpdir(), 'pawl-conductor-')) }) {
    mkdirSync(data, { recursive: true });
    const database = await startEmbedded({ dataDir: join(data, 'database') });
    const { connectionString, port: databasePort } = database;
    await giveBackTasks(connectionString);
    const { username, password, pathname } = new URL(connectionString.replace(/@[^/]*\//, '@localhost/'));
    const values: Record<string, string> = {
      PORT: String(port),
      DB_HOST_PORT_NAME: `127.0.0.1:${databasePort}${pathname}`,
      DB_USER: decodeURIComponent(username),
      DB_PASSWORD: decodeURIComponent(password),
    };
    const template = readFileSync(join(RECIPE, 'application.properties.template'), 'utf8');
    const properties = join(data, 'application.properties');
    writeFileSync(
      properties,
      template.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
    );
    const target = join(folder, 'target');
    const flags = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '--enable-native-access=ALL-UNNAMED'];
    const classes = ['-cp', `${join(target, 'conductor-pg.jar')}:${join(target, 'lib', '*')}`, 'local.conductor.Main'];
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/health`)
        .then((answer) => answer.json())
        .then((body) => (body as { healthy?: boolean }).healthy === true)
        .catch(() => false);
    const java = join(newJdk()!, 'bin', 'java');
    const args = [...flags, ...classes, `--spring.config.location=file:${properties}`];
    const running = await startListening(java, args, port, isReady);
    return { ...running, endOthers: () => database.stop() };
  },
};

/**
 * Tasks that a killed server had taken from its queues come back after a minute. This is the only server, so they can come
 * back now.
 */
async function giveBackTasks(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query(`select to_regclass('queue_message') is not null as known`);
  if (rows[0].known) await client.query('update queue_message set popped = false where popped');
  await client.end();
}

async function obtain(): Promise<Obtained> {
  const jdk = newJdk();
  if (jdk === null) return { missing: `a JDK of version ${OLDEST_JDK} or newer is not installed in ${JVM_FOLDER}` };
  const maven = inPath('mvn');
  if (maven === null) return { missing: 'Maven is not installed; it assembles Conductor' };
  // The folder has another name until it is complete, so that an interrupted build is not taken for a program.
  const partly = `${FOLDER}.partly`;
  mkdirSync(partly, { recursive: true });
  cpSync(RECIPE, partly, { recursive: true });
  const failure = await runProgram(maven, ['-q', '-B', 'package'], {
    cwd: partly,
    env: { ...process.env, JAVA_HOME: jdk },
  });
  if (failure !== null) return { missing: failure };
  rmSync(FOLDER, { recursive: true, force: true });
  renameSync(partly, FOLDER);
  return { path: FOLDER };
}

/** JAVA_HOME if it is new enough, otherwise one from the folder where systems put JDKs. */
function newJdk(): string | null {
  const installed = existsSync(JVM_FOLDER) ? readdirSync(JVM_FOLDER).map((name) => join(JVM_FOLDER, name)) : [];
  const candidates = [process.env.JAVA_HOME ?? '', ...installed];
  return candidates.find((folder) => versionOf(folder) >= OLDEST_JDK) ?? null;
}

function versionOf(folder: string): number {
  const release = join(folder, 'release');
  const found = existsSync(release) ? /JAVA_VERSION="(\d+)/.exec(readFileSync(release, 'utf8')) : null;
  return Number(found?.[1] ?? 0);
}
