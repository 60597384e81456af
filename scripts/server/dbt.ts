// dbt with its DuckDB and PostgreSQL adapters.

import { pythonProgram } from './python.ts';

export const dbt = pythonProgram({
  name: 'dbt',
  use: 'the DBT_* steps of plans',
  // dbt 1.12 downloads its own program when it is installed.
  packages: ['dbt-core~=1.11.0', 'dbt-duckdb', 'dbt-postgres'],
  program: 'dbt',
});
