// The clock of one test database, moved by hand: days pass in a moment. Everything that waits, waits by the clock of the database
// (I8), so the tested engine is the real one.

import { withClient } from './database.ts';

/**
 * Must run before anything else uses the database: statements prepared with the real clock keep it, and so do column
 * defaults.
 */
export const makeClockMovable = (connectionString: string): Promise<void> =>
  withClient(connectionString, async (client) => {
    await client.query('create table public.clock_shift (by interval not null)');
    await client.query(`insert into public.clock_shift values ('0 s')`);
    // This changes this database alone: its catalog is not shared.
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
