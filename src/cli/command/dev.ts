// `pawl dev`: everything in one process on an embedded PostgreSQL, for this machine only. Loose: no token is needed, and
// workflows may reach the developer's own programs on loopback. A first start creates samples and runs them.

import { type Command, Option } from 'commander';
import { clientPreferences, resolveConfig } from '../../config/config.ts';
import type { Json } from '../../core/json/json.ts';
import type { Pawl, PawlOptions } from '../../main.ts';
import type { Driver } from '../../protocol/driver.ts';
import { createClient } from '../../sdk/client.ts';
import { driverOption, wholeNumber } from '../argument.ts';
import { rememberAddress } from '../dev-address.ts';
import { SAMPLE_APPROVAL, SAMPLE_FAILURE, SAMPLE_LIFECYCLE, SAMPLE_WORKFLOW } from '../sample-workflow.ts';
import { runUntilStopped } from '../server-process.ts';
import { readableLog } from '../terminal/readable-log.ts';
import { restartedOnChange, watchDefinitions } from '../watch.ts';

interface DevFlags {
  readonly port?: number;
  readonly data?: string;
  readonly actions?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
  readonly watch?: string;
  /** Started by a supervising process, which restarts it. */
  readonly supervised?: boolean;
  readonly samples?: boolean;
  readonly driver?: Driver;
  readonly runner: boolean;
}

export function register(program: Command): void {
  program
    .command('dev')
    .description('start everything on this machine: server, runner and an embedded PostgreSQL')
    .option('-p, --port <number>', 'port to listen on (7295); 0 for any free one', wholeNumber(0, 65_535))
    .option('--data <folder>', 'folder of the embedded database (.pawl)')
    .option('--actions <folder>', 'a folder with your own actions')
    .option(
      '--samples',
      'on a first start, run samples to look at (by default in .pawl, not in a folder that you name)',
    )
    .option('--no-samples', 'only publish hello-pawl')
    .addOption(driverOption())
    .option('--no-runner', 'only answer requests; other processes run the executions')
    .option('--watch <folder>', 'publish the definitions of a folder, again on every change; also reload --actions')
    .addOption(new Option('--supervised').hideHelp())
    .option('--verbose', 'log every request and execution')
    .option('--json', 'log JSON lines, for a program')
    .addHelpText('after', NOTES)
    .action(async (flags: DevFlags) => {
      const { watch, actions, supervised } = flags;
      if (watch !== undefined && actions !== undefined && supervised !== true) {
        process.exitCode = await restartedOnChange(actions);
        return;
      }
      let stopWatching = () => {};
      process.exitCode = await runUntilStopped(devOptions(flags), {
        ready: (pawl) => {
          const leave = welcome(pawl);
          return () => {
            stopWatching();
            leave();
          };
        },
        started: async (pawl) => {
          await makeSamples(pawl, flags);
          if (watch !== undefined) stopWatching = await watchDefinitions(watch, pawl.url!);
        },
      });
    });
}

const NOTES = `
For this machine only: it needs no token, listens on 127.0.0.1 and lets workflows call your own programs there. Everything is
kept in --data and goes on at the next start. DATABASE_URL names a PostgreSQL of your own instead.`;

function welcome({ url, config: { database } }: Pawl): () => void {
  process.stdout.write(`Pawl is ready at ${url}\n\n${firstSteps(url!)}`);
  const forget = database.url === undefined ? rememberAddress(database.dataDir, url!) : () => {};
  return () => {
    forget();
    process.stderr.write('\nstopping; what is running goes on at the next start\n');
  };
}

function firstSteps(url: string): string {
  return `  Look around     ${url}/ (the dashboard) and ${url}/docs
  Run the sample  npx pawl start ${SAMPLE_WORKFLOW.id} --trigger '{"name":"Ada"}' --wait${other(url)}
  or over HTTP    curl -X POST ${url}/api/v1/workflows/${SAMPLE_WORKFLOW.id}/execute -H 'content-type: application/json' -d '{"trigger":{"name":"Ada"}}'
  See it          npx pawl list${other(url)}
  Stop            Ctrl-C, or: kill ${process.pid}

`;
}

/** Commands find the default address by themselves. */
const other = (url: string): string => (url === clientPreferences({}).url ? '' : ` --url ${url}`);

function devOptions({ port, data, actions, verbose, json, driver, runner }: DevFlags): PawlOptions {
  const { folder } = resolveConfig().dbt;
  const dbtFolders = folder.length > 0 ? folder : [process.cwd()];
  return {
    serve: true,
    runner,
    driver: { default: driver },
    database: { dataDir: data },
    server: { port, host: '127.0.0.1', logLevel: verbose === true ? 'info' : 'warn' },
    auth: { allowLooseAuth: true },
    http: { allowLoopback: true },
    // A developer who presses Ctrl-C does not want to wait. Interrupted attempts run again at the next start.
    engine: { drainMs: 2_000 },
    action: { folder: actions },
    dbt: { folder: dbtFolders },
    logTarget: json === true ? process.stderr : readableLog(process.stderr),
    onProgress: (step) => process.stderr.write(`… ${step}\n`),
  };
}

/** Only on a first start, so that deleted samples do not come back. A named folder or database begins empty. */
async function makeSamples(pawl: Pawl, { data, samples }: DevFlags): Promise<void> {
  const known = await pawl.store.workflowGet({ tenantId: 'default', workflowId: SAMPLE_WORKFLOW.id });
  if (known !== null) return;
  await pawl.publish(SAMPLE_WORKFLOW as unknown as Json);
  if (!(samples ?? (data === undefined && pawl.config.database.url === undefined))) return;
  const client = createClient({ url: pawl.url! });
  await pawl.publish(SAMPLE_FAILURE as unknown as Json);
  await client.workflows.create(SAMPLE_APPROVAL);
  await client.lifecycles.import({ definition: SAMPLE_LIFECYCLE });
  const loans = client.lifecycles.of(SAMPLE_LIFECYCLE.env, SAMPLE_LIFECYCLE.name);
  const events = [
    ['loan-1', 'submit'],
    ['loan-1', 'approve'],
    ['loan-2', 'submit'],
  ] as const;
  for (const [externalRef, event] of events) {
    await loans.trigger({ externalRef, event, requestId: `sample-${externalRef}-${event}` });
  }
  for (const id of [SAMPLE_WORKFLOW.id, SAMPLE_FAILURE.id, SAMPLE_APPROVAL.name]) {
    await pawl.start(id, { requestId: `sample-${id}`, trigger: { name: 'Ada' } });
  }
}
