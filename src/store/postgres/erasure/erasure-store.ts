// Erasure on PostgreSQL: what is meant is found first, then removed by one statement of the same transaction.

import { ERASED_KINDS, type Erased, type ErasureStore } from '../../erasure-port.ts';
import type { Database } from '../database.ts';
import { patternOf } from '../like-pattern.ts';
import { statement } from '../statement.ts';

const EXECUTIONS = statement('erasure_executions');
const INSTANCES = statement('erasure_instances');
const REMOVE = statement('erasure_remove');

const MOST_LIVE = 100;
const NOTHING = Object.fromEntries(ERASED_KINDS.map((kind) => [kind, 0])) as Erased['counts'];

export function erasureStore(reader: Database): ErasureStore {
  return {
    erase: ({ tenantId, person }) =>
      reader.transaction(async (session) => {
        // As it stands in the text of JSON.
        const pattern = patternOf(person === null ? null : JSON.stringify(person).slice(1, -1));
        const executions = await session.run<{ id: string; isLive: boolean }>(EXECUTIONS, [tenantId, pattern]);
        const live = executions.filter(({ isLive }) => isLive).map(({ id }) => id);
        if (live.length > 0) return { live: live.slice(0, MOST_LIVE), counts: NOTHING };
        const instances = await session.run<{ id: string }>(INSTANCES, [tenantId, pattern]);
        const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
        const [counts] = await session.run<Erased['counts']>(REMOVE, [
          ...[tenantId, pattern, ids(executions), ids(instances)],
        ]);
        return { live: [], counts: counts! };
      }),
  };
}
