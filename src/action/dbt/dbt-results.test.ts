import { describe, expect, it } from 'vitest';
import { countResults, failureOf, readResults, rowsWritten } from './dbt-results.ts';

const result = (unique_id: string, status: string, message: string | null = null, rows?: number) => ({
  unique_id,
  status,
  message,
  execution_time: 0.1,
  adapter_response: rows === undefined ? {} : { rows_affected: rows },
});
const run = (...results: ReturnType<typeof result>[]) => readResults({ results });
const WELL = { code: 0, errors: [] };

describe('the results of dbt', () => {
  it('the results count nodes that passed, failed, were skipped and had warnings', () => {
    const results = run(
      result('model.a', 'success'),
      result('test.b', 'fail'),
      result('model.c', 'skipped'),
      result('test.d', 'warn'),
    );
    expect(countResults(results)).toEqual({ total: 4, passed: 1, failed: 1, skipped: 1, warned: 1 });
  });

  it('the rows of models are added up, and are absent when the adapter reports none', () => {
    expect(rowsWritten(run(result('model.a', 'success', null, 3), result('model.b', 'success', null, 4)))).toBe(7);
    expect(rowsWritten(run(result('model.a', 'success', null, -1), result('test.a', 'pass', null, 9)))).toBeUndefined();
  });

  it('a results file of an unexpected form gives no results', () => {
    for (const odd of [null, [], 'text', { results: 'none' }, { results: [1, null] }])
      expect(readResults(odd)).toEqual([]);
  });
});

describe('the failure of dbt', () => {
  it('dbt that ended well has no failure', () => {
    expect(failureOf('run', WELL, run(result('model.a', 'success')))).toBeNull();
  });

  it('the failure of a model names the model and is not retried', () => {
    const failure = failureOf(
      'run',
      { code: 1, errors: [] },
      run(result('model.shop.a', 'error', 'Binder Error: no column x')),
    );
    expect(failure).toEqual({
      category: 'ACTION',
      code: 'DBT_MODEL_FAILED',
      message: 'model.shop.a: Binder Error: no column x',
      retryable: false,
    });
  });

  it('the failure of a test has a code of its own, even if dbt reports success', () => {
    expect(failureOf('test', WELL, run(result('test.a', 'fail', 'Got 1 result')))).toMatchObject({
      code: 'DBT_TEST_FAILED',
    });
  });

  it.each([
    'could not connect to server: Connection refused',
    'IO Error: Could not set lock on file "shop.duckdb"',
    'server closed the connection unexpectedly',
  ])('a run that lost its database is retried: %s', (message) => {
    expect(failureOf('run', { code: 1, errors: [message] }, [])).toMatchObject({
      code: 'DBT_CONNECTION_LOST',
      category: 'NETWORK',
      retryable: true,
    });
  });

  it('a failure without a message is described by the exit code', () => {
    expect(failureOf('compile', { code: 2, errors: [] }, [])).toMatchObject({
      code: 'DBT_COMPILE_FAILED',
      message: 'dbt ended with exit code 2',
    });
  });
});
