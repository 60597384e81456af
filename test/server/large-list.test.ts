// A list with many more executions than one page looks at. What PostgreSQL reads for the first page of each dashboard filter is
// bounded, however many executions exist, and a page that stops early says how far it looked.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillExecutions } from '../../bench/scenario/list.ts';
import { TENANT } from '../../bench/workload.ts';
import type { Session } from '../../src/store/postgres/database.ts';
import { pageOfExecutions } from '../../src/store/postgres/execution/execution-list.ts';
import { valuesOf } from '../../src/store/postgres/statement.ts';
import type { ExecutionFilter } from '../../src/store/reader-port.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';

const EXECUTIONS = 30_000;
const LIVE = 3_000;
const LOOKED = 500;
const LIMIT = 51;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const query = (text: string, values: unknown[] = []) =>
    withClient(database.connectionString, (client) => client.query(text, values));
  await fillExecutions({ query } as unknown as Parameters<typeof fillExecutions>[0], EXECUTIONS, LIVE);
}, 120_000);
afterAll(() => database?.drop());

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The page, and what each of its statements read. The statements are the store's own, planned with and without their values. */
async function explained(filter: Partial<ExecutionFilter>, mode: 'custom' | 'generic') {
  const plans: PlanNode[] = [];
  const page = await withClient(database.connectionString, async (client) => {
    // The queue is short here, so PostgreSQL would rather read it whole than use an index.
    await client.query(`set plan_cache_mode = force_${mode}_plan; set enable_seqscan = off`);
    const reader = {
      async run(statement: Parameters<Session['run']>[0], given: Parameters<Session['run']>[1]) {
        const values = [...valuesOf(statement, given)];
        const told = await client.query(`explain (analyze, buffers, format json) ${statement.text}`, values);
        plans.push((told.rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan);
        return (await client.query(statement.text, values)).rows;
      },
    } as unknown as Parameters<typeof pageOfExecutions>[0];
    return pageOfExecutions(reader, { tenantId: TENANT, beforeId: null, limit: LIMIT, ...filter }, LOOKED);
  });
  const nodes = plans.flatMap(nodesOf);
  const read = (node: PlanNode) =>
    ((node['Rows Removed by Filter'] ?? 0) + node['Actual Rows']) * Math.max(1, node['Actual Loops']);
  return {
    page,
    scans: nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
    rows: Math.max(...nodes.filter((node) => node['Relation Name'] !== undefined).map(read)),
    blocks: plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0),
  };
}

const FILTERS: Readonly<Record<string, Partial<ExecutionFilter>>> = {
  nothing: {},
  'a status': { status: ['Failed'] },
  'several statuses, live and ended': { status: ['Failed', 'Running'] },
  'why, of what is in memory': { why: 'running' },
  'a workflow': { workflowId: 'one-step' },
  'a workflow and a status': { workflowId: 'one-step', status: ['Failed'] },
  'a workflow, a status and a time': { workflowId: 'one-step', status: ['Failed'], createdAfter: Date.UTC(2026, 0, 1) },
  'a part of the error': { errorText: 'TIMEOUT' },
  'an error that nobody has': { errorText: 'NOTHING_IS_CALLED_SO' },
  'a project that nobody has': { projectId: 'nobody' },
  'an age': { createdBefore: Date.UTC(2026, 0, 1, 0, 10) },
  'a status and an age': { status: ['Running'], createdBefore: Date.UTC(2026, 0, 1, 0, 10) },
};

describe('the first page of a long list', () => {
  for (const [name, filter] of Object.entries(FILTERS)) {
    it.each(['custom', 'generic'] as const)(
      `the first page filtered by ${name} reads a bounded part of the list (%s plan)`,
      async (mode) => {
        const { page, scans, rows, blocks } = await explained(filter, mode);
        expect(scans).toEqual([]);
        expect(rows).toBeLessThanOrEqual(2 * LOOKED);
        // The reason why a live execution waits is looked up row by row.
        expect(blocks).toBeLessThanOrEqual(40 * LOOKED);
        expect(page.ids.length > 0 || page.searchedTo !== null).toBe(name !== 'a status and an age');
      },
    );
  }

  it('a page that finds nothing says how far it looked, and the next page goes on from there', async () => {
    const { page } = await explained({ errorText: 'NOTHING_IS_CALLED_SO' }, 'custom');
    expect(page.ids).toEqual([]);
    expect(page.searchedTo).not.toBeNull();
    const next = await explained({ errorText: 'NOTHING_IS_CALLED_SO', beforeId: page.searchedTo }, 'custom');
    expect(next.page.searchedTo === null || next.page.searchedTo < page.searchedTo!).toBe(true);
  });
});
