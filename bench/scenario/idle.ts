// What an idle runner asks of its database.

import { setTimeout as delay } from 'node:timers/promises';
import { openPawl } from '../native-run.ts';
import { countQueries } from '../query-counter.ts';
import type { Bench, Scenario } from '../scenario.ts';

const SETTLE_MS = 2_000;
const WATCH_MS = 20_000;
/** A shorter watch would see only a part of the poll's rhythm. */
const SHORTEST_WATCH_MS = 4_000;

export const idle: Scenario = {
  name: 'idle',
  about: 'queries/s of a runner that has nothing to do',
  async run({ database, report, scaled }: Bench) {
    await database.clear();
    const counter = await countQueries(database.url);
    const pawl = await openPawl(database, { database: { url: counter.url } });
    try {
      await delay(SETTLE_MS);
      const before = counter.count();
      const watchMs = Math.max(SHORTEST_WATCH_MS, scaled(WATCH_MS));
      await delay(watchMs);
      const rate = (counter.count() - before) / (watchMs / 1000);
      report.row('idle', 'pawl', 'queries/s', rate);
      report.ratio('idle/queries-per-second', rate, { atMost: 2 });
    } finally {
      await pawl.close();
      await counter.close();
    }
  },
};
