// `pawl serve`: server and runner for production: strict, on your own PostgreSQL (DATABASE_URL). It does not start without
// authentication. `pawl runner` is the same without the server.

import type { Command } from 'commander';
import { resolveConfig } from '../../config/config.ts';
import type { Pawl, PawlOptions } from '../../main.ts';
import type { Driver } from '../../protocol/driver.ts';
import { driverOption, wholeNumber } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { runUntilStopped } from '../server-process.ts';

interface ServeFlags {
  readonly port?: number;
  readonly host?: string;
  readonly data?: string;
  readonly actions?: string;
  readonly insecure?: boolean;
  readonly runner: boolean;
  readonly driver?: Driver;
  readonly taskQueue?: string[];
}

export function register(program: Command): void {
  program
    .command('serve')
    .description('start the server and a runner for production; DATABASE_URL names the database')
    .option('-p, --port <number>', 'port to listen on (7295); 0 for any free one', wholeNumber(0, 65_535))
    .option('--host <address>', 'address to listen on (127.0.0.1)')
    .option('--actions <folder>', 'a folder with your own actions')
    .option('--no-runner', 'only answer requests; `pawl runner` processes run the executions')
    .addOption(driverOption())
    .option('--insecure', 'accept every request without a token')
    .addHelpText('after', NOTES)
    .action(async (flags: ServeFlags) => {
      if (resolveConfig(options(flags)).database.url === undefined) throw new UsageError(NO_DATABASE);
      const life = { ready: ({ url }: Pawl) => say(`Pawl is ready at ${url}`), started: async () => {} };
      process.exitCode = await runUntilStopped({ ...options(flags), serve: true, runner: flags.runner }, life);
    });
  program
    .command('runner')
    .description('claim and run executions, without a server')
    .option('--data <folder>', 'folder of the embedded database, when there is no DATABASE_URL')
    .option('--actions <folder>', 'a folder with your own actions')
    .addOption(driverOption())
    .option('--task-queue <names...>', 'run only attempts of these task queues')
    .action(async (flags: ServeFlags) => {
      const life = {
        ready: ({ config }: Pawl) => say(`The runner is ready${whoseWork(config)}`),
        started: async () => {},
      };
      process.exitCode = await runUntilStopped(options(flags), life);
    });
}

function options({ port, host, data, actions, insecure, driver, taskQueue }: ServeFlags): PawlOptions {
  return {
    driver: { default: driver },
    ...(taskQueue === undefined ? {} : { taskQueues: taskQueue }),
    database: { dataDir: data },
    server: { port, host },
    auth: insecure === true ? { allowLooseAuth: true } : {},
    action: { folder: actions },
    logTarget: process.stdout,
    onProgress: (step) => say(`… ${step}`),
  };
}

/** Only one process can use an embedded database, so no server can hand work to this runner. */
function whoseWork({ database }: Pawl['config']): string {
  if (database.url !== undefined) return '';
  return ', on the embedded database, which no server can use meanwhile: to run the work of one, set DATABASE_URL to its database';
}

const NO_DATABASE =
  'serve needs a PostgreSQL of yours: set DATABASE_URL. The embedded database is for `pawl dev`: it has no backups, and one process at a time';

/** Standard output belongs to the log. */
const say = (line: string): undefined => void process.stderr.write(`${line}\n`);

const NOTES = `
Examples:
  DATABASE_URL=postgres://user:password@host/db pawl keys create --tenant acme --scope workflows:execute
  DATABASE_URL=postgres://user:password@host/db pawl serve --host 0.0.0.0

The log is JSON, on standard output. Every option: docs/configuration.md.`;
