// The queries of the dashboard with ten million executions in the table: the first page of every filter, statistics, causes, and
// live data. A page that would have to look at more stops after 50,000 executions and says so, which is an answer, too.

import type { Pawl } from '../../src/main.ts';
import type { BenchDatabase } from '../database.ts';
import { median } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish, TENANT } from '../workload.ts';
import { fillExecutions } from './list.ts';

const EXECUTIONS = 10_000_000;
const LIVE = 100_000;
const ROUNDS = 20;
/** The first queries also prepare the statement. */
const PREPARING = 3;
const MOST_MS = 20;
const DAY = 'createdAfter=2026-01-02T00:00:00Z';

const FILTERS: Readonly<Record<string, string>> = {
  none: '',
  failed: 'status=Failed',
  'failed-or-running': 'status=Failed,Running',
  retrying: 'why=retrying',
  waiting: 'why=waiting',
  sleeping: 'why=sleeping',
  workflow: 'workflowId=one-step',
  'failed-of-workflow': 'workflowId=one-step&status=Failed',
  'failed-of-workflow-today': `workflowId=one-step&status=Failed&${DAY}`,
  error: 'error=TIMEOUT',
  'error-of-nobody': 'error=NOTHING_IS_CALLED_SO',
  'project-of-nobody': 'projectId=nobody',
  'older-than': 'olderThan=1h',
  stuck: 'status=Running&olderThan=1h',
};

/** Every combination of the filter fields on the page. */
const FIELDS = [
  ['', 'why=queued', 'why=running', 'why=retrying', 'why=waiting', 'why=sleeping', 'why=paused', 'why=noWorker'],
  ['', 'status=Failed', 'status=Succeeded', 'status=Failed,TimedOut', 'status=Pending,Running,Paused'],
  ['', 'workflowId=one-step'],
  ['', DAY],
  ['', 'error=TIMEOUT', 'error=NOTHING_IS_CALLED_SO'],
] as const;

const combinations = (): string[] =>
  FIELDS.reduce<string[]>(
    (found, values) => found.flatMap((query) => values.map((value) => (value === '' ? query : `${query}&${value}`))),
    [''],
  );

const OTHERS: Readonly<Record<string, string>> = {
  'stats-hour': '/stats?bucket=minute&from=2026-01-10T00:00:00Z&until=2026-01-10T01:00:00Z',
  'stats-day': '/stats?bucket=hour&from=2026-01-09T00:00:00Z&until=2026-01-10T00:00:00Z',
  failures: '/failures?since=2026-01-09T00:00:00Z',
  live: '/live',
  waits: '/waits',
  find: '/find?text=nobody',
};

export const dashboardScenario: Scenario = {
  name: 'dashboard',
  about: `what the dashboard asks with ${EXECUTIONS.toLocaleString('en')} executions`,
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const pawl = await openPawl(database, {
      serve: true,
      runner: false,
      server: { port: 0 },
      auth: { allowLooseAuth: true },
    });
    try {
      await publish(pawl, chainWorkflow('one-step', 1));
      report.progress(`dashboard: writing ${scaled(EXECUTIONS)} executions`);
      await fillExecutions(database, scaled(EXECUTIONS), scaled(LIVE));
      await fillStatistics(database);
      const slow: number[] = [];
      for (const [name, query] of Object.entries(FILTERS)) {
        const { ms, isCut } = await ask(pawl, `/executions?view=row&${query}`);
        report.row(`dashboard-list-${name}${isCut ? '-searchedTo' : ''}`, 'pawl', 'ms p50', ms);
        if (!isCut) slow.push(ms);
      }
      slow.push(...(await askEveryCombination(pawl, report)));
      report.ratio('dashboard/slowest-list-ms', Math.max(...slow), { atMost: MOST_MS });
      for (const [name, path] of Object.entries(OTHERS)) {
        report.row(`dashboard-${name}`, 'pawl', 'ms p50', (await ask(pawl, path)).ms);
      }
    } finally {
      await pawl.close();
      await database.clear();
    }
  },
};

/** The times of the queries that were answered whole; the slowest are named. */
async function askEveryCombination(pawl: Pawl, report: Bench['report']): Promise<number[]> {
  const asked: { query: string; ms: number; isCut: boolean }[] = [];
  for (const query of combinations()) asked.push({ query, ...(await ask(pawl, `/executions?view=row${query}`, 7)) });
  const whole = asked.filter(({ isCut }) => !isCut).toSorted((a, b) => b.ms - a.ms);
  const cut = asked.filter(({ isCut }) => isCut).toSorted((a, b) => b.ms - a.ms);
  for (const { query, ms } of [...whole.slice(0, 3), ...cut.slice(0, 3)])
    report.row(`dashboard-list${query.replaceAll('&', ' ')}`, 'pawl', 'ms p50', ms);
  report.progress(`dashboard: ${asked.length} combinations, ${cut.length} stopped with searchedTo`);
  return whole.map(({ ms }) => ms);
}

async function ask(pawl: Pawl, path: string, rounds = ROUNDS): Promise<{ ms: number; isCut: boolean }> {
  const waits: number[] = [];
  let isCut = false;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    const answer = await fetch(`${pawl.url}/api/v1${path}`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    const { searchedTo } = (await answer.json()) as { searchedTo?: string };
    waits.push(performance.now() - startedAt);
    isCut = searchedTo !== undefined;
    if (isCut && round >= PREPARING) break;
  }
  return { ms: median(waits.slice(PREPARING)), isCut };
}

/** Two hundred workflows: a day of minutes, ten days of hours, and a thousand causes. */
async function fillStatistics(database: BenchDatabase): Promise<void> {
  const counts = '10, 8, 1, 1, 0, array_fill(1, array[14]), array_fill(1, array[14])';
  await database.query(
    `insert into execution_stats (tenant_id, grain, at, workflow_id, version, started, succeeded, failed, timed_out, cancelled, durations, waits)
     select $1, 0, at, 'workflow-' || n, 1, ${counts}
     from generate_series(1, 200) n, generate_series(timestamptz '2026-01-10', timestamptz '2026-01-10 23:59', interval '1 minute') at
     union all
     select $1, 1, at, 'workflow-' || n, 1, ${counts}
     from generate_series(1, 200) n, generate_series(timestamptz '2026-01-01', timestamptz '2026-01-10 23:00', interval '1 hour') at`,
    [TENANT],
  );
  await database.query(
    `insert into failure_groups (tenant_id, at, fingerprint, workflow_id, node_id, code, message, count, first_at, last_at, sample_id)
     select $1, at, 'cause-' || n, 'workflow-' || n % 200, 'charge', 'HTTP_503', 'the shop is away', 3, at, at, gen_random_uuid()
     from generate_series(1, 100) n, generate_series(timestamptz '2026-01-09', timestamptz '2026-01-10', interval '5 minutes') at`,
    [TENANT],
  );
  for (const table of ['execution_stats', 'failure_groups']) await database.query(`vacuum analyze ${table}`);
}
