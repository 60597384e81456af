// Statistics on PostgreSQL.

import type { Timestamp } from '../../port.ts';
import type {
  ActionStat,
  ExecutionStat,
  FailureGroup,
  Grain,
  StatCounts,
  StatisticsStore,
} from '../../statistics-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const ADD_EXECUTIONS = statement('execution_stats_add');
const ADD_ACTIONS = statement('action_stats_add');
const ADD_FAILURES = statement('failure_groups_add');
const PURGE = statement('stats_purge');
const EXECUTIONS = statement('execution_stats_read');
const ACTIONS = statement('action_stats_read');
const FAILURES = statement('failure_groups_read');

const GRAINS: Record<Grain, number> = { minute: 0, hour: 1, day: 2 };

export function statisticsStore(reader: Database): StatisticsStore {
  return {
    async statsAdd({ executions, actions, failures }) {
      for (const [grain, unitMs] of UNITS) {
        const summed = summedBy(executions, unitMs, ({ workflowId, version }) => `${workflowId}\n${version}`);
        if (summed.length > 0) await reader.run(ADD_EXECUTIONS, [...executionColumns(summed), grain]);
        const acted = summedBy(actions, unitMs, ({ actionType }) => actionType);
        if (acted.length > 0) await reader.run(ADD_ACTIONS, [...actionColumns(acted), grain]);
      }
      if (failures.length > 0) await reader.run(ADD_FAILURES, failureColumns(failures));
    },
    async statsPurge() {
      await reader.run(PURGE, []);
    },
    async statsOfExecutions({ tenantId, grain, from, until, workflowIds, limit }) {
      const values = [tenantId, GRAINS[grain], new Date(from), new Date(until), workflowIds, limit];
      const rows = await reader.run<StatRow & { workflowId: string; version: number }>(EXECUTIONS, values);
      return rows.map((row) => ({ ...counts(row), workflowId: row.workflowId, version: row.version }));
    },
    async statsOfActions({ tenantId, grain, from, until, actionTypes, limit }) {
      const values = [tenantId, GRAINS[grain], new Date(from), new Date(until), actionTypes, limit];
      const rows = await reader.run<StatRow & { actionType: string }>(ACTIONS, values);
      return rows.map((row) => ({ ...counts(row), actionType: row.actionType }));
    },
    async failureGroups({ tenantId, since, workflowId, limit }) {
      const rows = await reader.run<FailureGroup>(FAILURES, [tenantId, new Date(since), workflowId, limit]);
      return rows;
    },
  };
}

const UNITS: readonly (readonly [grain: number, unitMs: number])[] = [
  [GRAINS.minute, 60_000],
  [GRAINS.hour, 3_600_000],
  [GRAINS.day, 86_400_000],
];

/** One row per key and time: a statement may touch a row only once. */
function summedBy<Stat extends StatCounts & { tenantId: string; at: Timestamp }>(
  stats: readonly Stat[],
  unitMs: number,
  keyOf: (stat: Stat) => string,
): Stat[] {
  const summed = new Map<string, Stat>();
  for (const stat of stats) {
    const at = stat.at - (stat.at % unitMs);
    const key = `${stat.tenantId}\n${at}\n${keyOf(stat)}`;
    const known = summed.get(key);
    summed.set(key, known === undefined ? { ...stat, at } : { ...known, ...sumOf(known, stat) });
  }
  return [...summed.values()];
}

function sumOf(one: StatCounts, other: StatCounts): StatCounts {
  const both = (first: readonly number[], second: readonly number[]) =>
    first.map((count, at) => count + (second[at] ?? 0));
  return {
    started: one.started + other.started,
    succeeded: one.succeeded + other.succeeded,
    failed: one.failed + other.failed,
    timedOut: one.timedOut + other.timedOut,
    cancelled: one.cancelled + other.cancelled,
    durations: both(one.durations, other.durations),
    waits: both(one.waits, other.waits),
  };
}

const column = <Row, Value>(rows: readonly Row[], value: (row: Row) => Value): Value[] => rows.map(value);
const arrayText = (counts: readonly number[]): string => `{${counts.join(',')}}`;

const countColumns = (rows: readonly StatCounts[]): unknown[] => [
  column(rows, ({ started }) => started),
  column(rows, ({ succeeded }) => succeeded),
  column(rows, ({ failed }) => failed),
  column(rows, ({ timedOut }) => timedOut),
  column(rows, ({ cancelled }) => cancelled),
  column(rows, ({ durations }) => arrayText(durations)),
  column(rows, ({ waits }) => arrayText(waits)),
];

const executionColumns = (rows: readonly ExecutionStat[]): unknown[] => [
  column(rows, ({ tenantId }) => tenantId),
  column(rows, ({ at }) => new Date(at)),
  column(rows, ({ workflowId }) => workflowId),
  column(rows, ({ version }) => version),
  ...countColumns(rows),
];

const actionColumns = (rows: readonly ActionStat[]): unknown[] => [
  column(rows, ({ tenantId }) => tenantId),
  column(rows, ({ at }) => new Date(at)),
  column(rows, ({ actionType }) => actionType),
  ...countColumns(rows),
];

/** A text column accepts neither NUL nor half a character. */
const clean = (text: string): string => text.replaceAll('\0', '').toWellFormed();

const failureColumns = (rows: readonly (FailureGroup & { tenantId: string; at: Timestamp })[]): unknown[] => [
  column(rows, ({ tenantId }) => tenantId),
  column(rows, ({ at }) => new Date(at)),
  column(rows, ({ fingerprint }) => fingerprint),
  column(rows, ({ workflowId }) => workflowId),
  column(rows, ({ nodeId }) => nodeId),
  column(rows, ({ code }) => clean(code)),
  column(rows, ({ message }) => clean(message)),
  column(rows, ({ count }) => count),
  column(rows, ({ firstAt }) => new Date(firstAt)),
  column(rows, ({ lastAt }) => new Date(lastAt)),
  column(rows, ({ sampleId }) => sampleId),
];

function counts(row: StatRow): StatCounts & { tenantId: string; at: Timestamp } {
  return {
    tenantId: row.tenantId,
    at: row.at,
    started: row.started,
    succeeded: row.succeeded,
    failed: row.failed,
    timedOut: row.timedOut,
    cancelled: row.cancelled,
    durations: numbers(row.durations),
    waits: numbers(row.waits),
  };
}

const numbers = (text: string): number[] => text.slice(1, -1).split(',').map(Number);

interface StatRow {
  tenantId: string;
  at: Timestamp;
  started: number;
  succeeded: number;
  failed: number;
  timedOut: number;
  cancelled: number;
  durations: string;
  waits: string;
}
