// GET /executions with a million executions of several tenants in the table: the first page, without a filter and with each
// filter.

import type { Pawl } from '../../src/main.ts';
import type { BenchDatabase } from '../database.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, publish, TENANT } from '../workload.ts';

const EXECUTIONS = 1_000_000;
const LIVE = 10_000;
const ROUNDS = 30;

/** Typical queries of people; the slowest counts. */
const QUESTIONS: Readonly<Record<string, string>> = {
  all: '',
  failed: '?status=Failed',
  running: '?status=Running',
  'failed-or-running': '?status=Failed,Running',
  workflow: '?workflowId=one-step',
  'failed-of-workflow': '?workflowId=one-step&status=Failed',
  sleeping: '?why=sleeping',
  error: '?error=TIMEOUT',
  counted: '?count=true',
  day: '?createdAfter=2026-01-01T06:00:00Z&createdBefore=2026-01-01T07:00:00Z',
};

export const listScenario: Scenario = {
  name: 'list',
  about: `the first page of GET /executions with ${EXECUTIONS.toLocaleString('en')} executions`,
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
      report.progress(`list: writing ${scaled(EXECUTIONS)} executions`);
      await fillExecutions(database, scaled(EXECUTIONS), scaled(LIVE));
      const slowest: number[] = [];
      for (const [name, query] of Object.entries(QUESTIONS)) {
        const waits = await ask(pawl, query);
        report.row(`list-${name}`, 'pawl', 'ms p50', median(waits));
        slowest.push(percentile(waits, 0.9));
        if (name === 'all') report.ratio('list/first-page-ms', percentile(waits, 0.9), { atMost: 20 });
      }
      report.ratio('list/slowest-filter-ms', Math.max(...slowest), { atMost: 100 });
    } finally {
      await pawl.close();
      await database.clear();
    }
  },
};

async function ask(pawl: Pawl, query: string): Promise<number[]> {
  const waits: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const answer = await fetch(`${pawl.url}/api/v1/executions${query}`);
    if (!answer.ok) throw new Error(`${query}: ${answer.status} ${await answer.text()}`);
    await answer.text();
    waits.push(performance.now() - startedAt);
  }
  // The first queries also prepare the statement.
  return waits.slice(3);
}

/**
 * One execution every tenth of a second; ids begin with their time, as ours do. Half belong to our tenant, one in 20 has
 * failed, and the newest are live.
 */
export async function fillExecutions(database: BenchDatabase, count: number, live: number): Promise<void> {
  await database.query(
    `insert into workflow_executions (id, tenant_id, workflow_id, version, format, trigger, principal, correlation_id, request_id, created_at)
     select made.id, case made.n % 4 when 0 then 'acme' when 1 then 'globex' else $2 end,
       case when made.n % 10 < 3 then 'one-step' else 'workflow-' || made.n % 50 end, 1, 'graph', '{"x":1}',
       '{"userId":"bench","displayName":"Bench","email":null}', made.id::text, made.id::text, made.at
     from (
       select n, at, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
         || substr(md5(n::text), 4, 15))::uuid as id
       from generate_series(1, $1::int) n cross join lateral (select timestamptz '2026-01-01' + n * interval '100 ms' as at) t
     ) made`,
    [count, TENANT],
  );
  await database.query(
    // Most parked executions sleep, some retry (2), and some wait for a callback (4).
    `insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, state, due_at, epoch, parked_for)
     select id, tenant_id, workflow_id, version, priority, 2, created_at + interval '10 years', 1,
       (array[16, 16, 16, 16, 16, 16, 16, 2, 4, 4])[1 + abs(hashtext(id::text)) % 10]::smallint
     from workflow_executions order by id desc limit $1`,
    [live],
  );
  await database.query(
    `insert into execution_outcomes (execution_id, tenant_id, status, outputs, error, started_at, ended_at)
     select e.id, e.tenant_id, case when r.n = 0 then 'Failed' else 'Succeeded' end, case when r.n > 0 then json '{"x":1}' end,
       case when r.n = 0 then json '{"code":"HTTP_TIMEOUT","message":"too late"}' end, e.created_at, e.created_at
     from workflow_executions e cross join lateral (select hashtext(e.id::text) % 20 as n) r
     where not exists (select from execution_queue q where q.execution_id = e.id)`,
  );
  await database.query('vacuum analyze workflow_executions');
  await database.query('vacuum analyze execution_outcomes');
  await database.query('vacuum analyze execution_queue');
}
