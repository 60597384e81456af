// Reads the database past the proxy: the rows that the check compares with the expected ledger.

import pg from 'pg';
import type { Fact } from '../../src/core/decider/fact.ts';
import type { Json } from '../../src/core/json/json.ts';
import { keepClaimLog, ownerChanges, wasClaimed } from './claim-log.ts';
import type { Effect } from './effect-action.ts';

export interface JournalEntry {
  readonly seq: number;
  readonly at: number;
  readonly facts: readonly Fact[];
}

interface AttemptRecord {
  readonly nodeId: string;
  readonly attempt: number;
  readonly status: string;
  readonly outputs: Json;
  readonly error: Json;
}

export interface ExecutionRecord {
  readonly executionId: string;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly parentNode: string | null;
  readonly journal: readonly JournalEntry[];
  readonly attempts: readonly AttemptRecord[];
  readonly outcomes: readonly { status: string; outputs: Json; error: Json }[];
}

export interface Evidence {
  /** From now on, every change of an owner is recorded. */
  keepClaimLog(): Promise<void>;
  ownerChanges(executionId: string): Promise<unknown[]>;
  owned(runnerName: string): Promise<string[]>;
  /** Names of runners that were declared dead at least once. Other runners may have begun again what these had begun. */
  deadRunners(): Promise<Set<string>>;
  /**
   * Whether this attempt has a durable cause: its start in the journal, or the claim of an execution that begins with it. The
   * claim may belong to an owner that is gone: its last effect arrives when its successor has already written to the journal.
   * Undefined: the database does not answer.
   */
  isStarted(effect: Effect): Promise<boolean | undefined>;
  records(executionIds: readonly string[]): Promise<Map<string, ExecutionRecord>>;
  children(executionIds: readonly string[]): Promise<{ parentId: string; executionId: string }[]>;
  /** Rows of executions that have not ended, with the known reasons. */
  unfinished(): Promise<Record<string, unknown>[]>;
  executionIds(): Promise<string[]>;
  deadLetters(): Promise<Record<string, unknown>[]>;
  /** Messages of executions that have ended, by kind. Nobody will ever read them. */
  strayMail(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** `nodeIds`: the nodes of each workflow in the order of its plan, because facts name nodes by number. */
export function openEvidence(
  connectionString: string,
  nodeIds: ReadonlyMap<string, readonly string[]>,
  startNodes: ReadonlyMap<string, readonly string[]>,
): Evidence {
  const pool = new pg.Pool({ connectionString, max: 6 });
  // The database is restarted while this pool is connected.
  pool.on('error', () => {});
  const ask: Ask = async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
    (await pool.query<Row>(text, values)).rows;

  return {
    keepClaimLog: () => keepClaimLog(ask),
    ownerChanges: (executionId) => ownerChanges(ask, executionId),
    async owned(runnerName) {
      const rows = await ask<{ execution_id: string }>(
        `select q.execution_id from execution_queue q join runners r on r.id = q.runner_id where r.name = $1`,
        [runnerName],
      ).catch(() => []);
      return rows.map((row) => row.execution_id);
    },
    async deadRunners() {
      const rows = await ask<{ name: string }>(
        `select distinct r.name from runners r join runner_slots s on s.runner_id = r.id where s.state = 'dead'`,
      );
      return new Set(rows.map(({ name }) => name));
    },
    async isStarted({ executionId, nodeId, attempt, runner }) {
      try {
        const rows = await ask<{ workflow_id: string; facts: Fact[] | null }>(
          `select e.workflow_id, t.facts from workflow_executions e
           left join execution_events t on t.execution_id = e.id where e.id = $1`,
          [executionId],
        );
        const workflowId = rows[0]?.workflow_id;
        if (workflowId === undefined) return false;
        const node = nodeIds.get(workflowId)!.indexOf(nodeId);
        if (rows.some(({ facts }) => facts?.some((fact) => isStart(fact, node, attempt)))) return true;
        const isFirst = startNodes.get(workflowId)!.includes(nodeId) && (attempt ?? 1) === 1;
        return isFirst && (await wasClaimed(ask, executionId, runner));
      } catch {
        return undefined;
      }
    },
    records: (executionIds) => readRecords(ask, executionIds),
    async children(executionIds) {
      return ask(
        `select parent_id as "parentId", id as "executionId" from workflow_executions
         where parent_id = any($1::uuid[]) order by id`,
        [executionIds],
      );
    },
    unfinished: () =>
      ask(
        `select q.*, r.name as runner, (select string_agg(distinct s.state, ',') from runner_slots s where s.runner_id = q.runner_id) as slots,
           (select json_agg(json_build_object('kind', m.kind, 'key', m.key)) from execution_inbox m where m.execution_id = q.execution_id) as inbox,
           (select json_agg(t.facts order by t.seq) from execution_events t where t.execution_id = q.execution_id) as journal
         from execution_queue q left join runners r on r.id = q.runner_id order by q.execution_id`,
      ),
    async executionIds() {
      const rows = await ask<{ id: string }>(`select id from workflow_executions order by id`);
      return rows.map((row) => row.id);
    },
    deadLetters: () => ask(`select * from dead_letters order by id`),
    async strayMail() {
      const rows = await ask<{ kind: string; count: number }>(
        `select kind, count(*)::int as count from execution_inbox group by kind order by kind`,
      );
      return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
    },
    close: () => pool.end(),
  };
}

function isStart(fact: Fact, node: number, attempt: number | null): boolean {
  return fact.type === 'NodeStarted' && fact.node === node && (attempt === null || fact.attempt === attempt);
}

export type Ask = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;

async function readRecords(ask: Ask, executionIds: readonly string[]): Promise<Map<string, ExecutionRecord>> {
  type Mutable = {
    [K in keyof ExecutionRecord]: ExecutionRecord[K] extends readonly (infer Item)[] ? Item[] : ExecutionRecord[K];
  };
  const records = new Map<string, Mutable>();
  const ids = [executionIds];
  for (const row of await ask<{ id: string; tenant_id: string; workflow_id: string; parent_node: string | null }>(
    `select id, tenant_id, workflow_id, parent_node from workflow_executions where id = any($1::uuid[])`,
    ids,
  )) {
    const { id: executionId, tenant_id: tenantId, workflow_id: workflowId, parent_node: parentNode } = row;
    records.set(executionId, {
      executionId,
      tenantId,
      workflowId,
      parentNode,
      journal: [],
      attempts: [],
      outcomes: [],
    });
  }
  for (const { execution_id, ...entry } of await ask<JournalEntry & { execution_id: string }>(
    `select execution_id, seq, (extract(epoch from at) * 1000)::float8 as at, facts from execution_events
     where execution_id = any($1::uuid[]) order by execution_id, seq`,
    ids,
  )) {
    records.get(execution_id)?.journal.push(entry);
  }
  for (const { execution_id, ...attempt } of await ask<AttemptRecord & { execution_id: string }>(
    `select execution_id, node_id as "nodeId", attempt, status, outputs, error from action_executions
     where execution_id = any($1::uuid[]) order by execution_id, node_id, attempt`,
    ids,
  )) {
    records.get(execution_id)?.attempts.push(attempt);
  }
  for (const { execution_id, ...outcome } of await ask<ExecutionRecord['outcomes'][number] & { execution_id: string }>(
    `select execution_id, status, outputs, error from execution_outcomes where execution_id = any($1::uuid[])`,
    ids,
  )) {
    records.get(execution_id)?.outcomes.push(outcome);
  }
  return records;
}
