// The clock of one test database, moved by hand: days pass in a moment. Everything that waits, waits by the database's clock
// (I8), so the engine that runs is the real one.

import { withClient } from './database.ts';

/** Before anything else uses the database: what was prepared with the real clock keeps it, and so do the columns' defaults. */
export const makeClockMovable = (connectionString: string): Promise<void> =>
  withClient(connectionString, async (client) => {
    await client.query('create table public.clock_shift (by interval not null)');
    await client.query(`insert into public.clock_shift values ('0 s')`);
    // Of this database alone: the catalog is not shared.
    await client.query('set allow_system_table_mods = on');
    for (const [clock, volatility] of [
      ['clock_timestamp', 'volatile'],
      ['now', 'stable'],
    ]) {
      await client.query(`alter function pg_catalog.${clock}() rename to real_${clock}`);
      await client.query(`create function pg_catalog.${clock}() returns timestamptz language sql ${volatility}
        as 'select pg_catalog.real_${clock}() + by from public.clock_shift'`);
    }
  });

export const moveClock = (connectionString: string, interval: string): Promise<void> =>
  withClient(connectionString, async (client) => {
    await client.query('update public.clock_shift set by = by + $1::interval', [interval]);
  });
