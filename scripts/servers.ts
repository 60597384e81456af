// `npm run servers` obtains the servers that this machine's toolchains allow, and says what is missing and why. `npm run servers
// -- start NAME [--port N] [--data DIR]` runs one server in the foreground until it is stopped.

import { parseArgs } from 'node:util';
import { endWithUsage } from './command-line.ts';
import type { Server } from './server/server.ts';
import { SERVERS } from './server/servers.ts';

const NAMES = SERVERS.flatMap(({ name, start }) => (start === undefined ? [] : [name]));
const USAGE = `Usage: npm run servers                                       obtain what is missing
       npm run servers -- start ${NAMES.join('|')} [--port N] [--data DIR]`;

const { command, name, port, data } = readCommand();
if (command === undefined) await obtainAll();
else await startOne(name);

function readCommand() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { port: { type: 'string' }, data: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const [given, wanted, ...rest] = positionals;
    if (given !== undefined && given !== 'start') return endWithUsage(USAGE, `unknown command "${given}"`);
    if (rest.length > 0) return endWithUsage(USAGE, `unexpected "${rest[0]}"`);
    return { command: given, name: wanted, ...values };
  } catch (error) {
    return endWithUsage(USAGE, (error as Error).message);
  }
}

/** A server that cannot be obtained is no failure: its tests are skipped, and say so. */
async function obtainAll(): Promise<void> {
  for (const server of SERVERS) {
    const found = server.find();
    if (found !== null) {
      console.log(`${server.name}: there already (${found})`);
      continue;
    }
    console.log(`${server.name}: obtaining it, for ${server.use} …`);
    const startedAt = Date.now();
    const obtained = await server.obtain();
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    if ('path' in obtained) console.log(`${server.name}: ready after ${seconds} s (${obtained.path})`);
    else console.log(`${server.name}: MISSING, so ${server.use} cannot be tried or tested here. ${obtained.missing}`);
  }
}

async function startOne(wanted: string | undefined): Promise<void> {
  const server = SERVERS.find((candidate) => candidate.name === wanted);
  if (server?.start === undefined) return endWithUsage(USAGE, `unknown server "${wanted ?? ''}"`);
  const program = await programOf(server);
  const listenOn = port === undefined ? server.port : Number(port);
  if (!(Number.isInteger(listenOn) && listenOn > 0 && listenOn < 65_536)) {
    return endWithUsage(USAGE, `--port must be a number between 1 and 65535, not "${port}"`);
  }
  const running = await server.start(program, { port: listenOn, data });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => running.process.kill(signal));
  running.process.once('exit', (code) => process.exit(code ?? 0));
  console.log(`${server.name} is ready at ${running.address}`);
}

async function programOf(server: Server): Promise<string> {
  const found = server.find();
  if (found !== null) return found;
  console.log(`${server.name}: obtaining it …`);
  const obtained = await server.obtain();
  if ('path' in obtained) return obtained.path;
  console.error(`${server.name} cannot be had here: ${obtained.missing}`);
  process.exit(1);
}
