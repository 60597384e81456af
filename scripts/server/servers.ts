// The table of servers that tests and people use in addition to PostgreSQL. A new server is a file beside this one, and a row
// here.

import { pythonClient, schemathesis, typescriptClient } from './api-tools.ts';
import { conductor } from './conductor.ts';
import { dbt } from './dbt.ts';
import { debianPostgres, pgbouncer } from './debian.ts';
import { moto } from './moto.ts';
import { nats } from './nats.ts';
import type { Server } from './server.ts';
import { temporal } from './temporal.ts';
import { temporalTimeSkipping } from './temporal-time-skipping.ts';

export const SERVERS: readonly Server[] = [
  temporal,
  nats,
  temporalTimeSkipping,
  conductor,
  dbt,
  moto,
  pgbouncer,
  debianPostgres,
  schemathesis,
  typescriptClient,
  pythonClient,
];
