// The meaning of a dbt run: turns its exit code, run_results.json and messages into a StepOutput. Makes no calls and touches no
// files.

import type { ErrorCategory } from '../../core/error/category.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';

export interface DbtNodeResult {
  readonly uniqueId: string;
  readonly status: string;
  readonly message: string | null;
  readonly executionTimeS: number;
  readonly rowsAffected: number | null;
}

export interface DbtFailure {
  readonly category: ErrorCategory;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** The nodes of a run_results.json; other entries are left out. */
export function readResults(runResults: Json | null): DbtNodeResult[] {
  const results = isJsonObject(runResults) && Array.isArray(runResults.results) ? runResults.results : [];
  return results.filter(isJsonObject).map((result) => {
    const response = isJsonObject(result.adapter_response) ? result.adapter_response : {};
    const rows = response.rows_affected;
    return {
      uniqueId: typeof result.unique_id === 'string' ? result.unique_id : '',
      status: typeof result.status === 'string' ? result.status : '',
      message: typeof result.message === 'string' ? result.message : null,
      executionTimeS: typeof result.execution_time === 'number' ? result.execution_time : 0,
      rowsAffected: typeof rows === 'number' && rows >= 0 ? rows : null,
    };
  });
}

const FAILED = new Set(['error', 'fail', 'runtime error']);
const PASSED = new Set(['success', 'pass']);

export interface DbtCounts extends Record<string, number> {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly warned: number;
}

export function countResults(results: readonly DbtNodeResult[]): DbtCounts {
  const count = (test: (status: string) => boolean) => results.filter(({ status }) => test(status)).length;
  return {
    total: results.length,
    passed: count((status) => PASSED.has(status)),
    failed: count((status) => FAILED.has(status)),
    skipped: count((status) => status === 'skipped'),
    warned: count((status) => status === 'warn'),
  };
}

/** The rows that models wrote; undefined if the adapter does not report them. */
export function rowsWritten(results: readonly DbtNodeResult[]): number | undefined {
  const told = results.flatMap(({ uniqueId, rowsAffected }) =>
    rowsAffected === null || !uniqueId.startsWith('model.') ? [] : [rowsAffected],
  );
  return told.length === 0 ? undefined : told.reduce((sum, rows) => sum + rows, 0);
}

/** The database is away or locked: the same step may succeed later. */
const CONNECTION =
  /could not connect|connection refused|connection (to server|reset|timed out|already closed)|server closed the connection|could not translate host|could not set lock|database is (locked|starting up|shutting down)|too many connections|terminating connection|network is unreachable|ssl connection/i;

/** null: no failure. */
export function failureOf(
  command: DbtCommand,
  exit: { readonly code: number | null; readonly errors: readonly string[] },
  results: readonly DbtNodeResult[],
): DbtFailure | null {
  const bad = results.filter(({ status }) => FAILED.has(status));
  if (exit.code === 0 && bad.length === 0) return null;
  const texts = [...bad.map(({ message }) => message ?? ''), ...exit.errors];
  const lost = texts.find((text) => CONNECTION.test(text));
  if (lost !== undefined)
    return { category: 'NETWORK', code: 'DBT_CONNECTION_LOST', message: shortened(lost), retryable: true };
  const message = bad.length === 0 ? (exit.errors[0] ?? `dbt ended with exit code ${exit.code}`) : named(bad);
  return { category: 'ACTION', code: FAILURE_CODES[command], message: shortened(message), retryable: false };
}

export type DbtCommand = 'compile' | 'run' | 'test';

const FAILURE_CODES: Readonly<Record<DbtCommand, string>> = {
  compile: 'DBT_COMPILE_FAILED',
  run: 'DBT_MODEL_FAILED',
  test: 'DBT_TEST_FAILED',
};

const MAX_NAMED = 5;

function named(bad: readonly DbtNodeResult[]): string {
  const lines = bad.slice(0, MAX_NAMED).map(({ uniqueId, message }) => `${uniqueId}: ${(message ?? '').trim()}`);
  const more = bad.length > MAX_NAMED ? [`and ${bad.length - MAX_NAMED} more`] : [];
  return [...lines, ...more].join('; ');
}

const MAX_MESSAGE = 1_000;

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}
