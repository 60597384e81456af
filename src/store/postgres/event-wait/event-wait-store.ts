// Waits for events on PostgreSQL.

import type { EventWaitStore } from '../../event-wait-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const ADD = statement('event_wait_add');
const MATCH = statement('event_wait_match');
const DROP = statement('event_wait_drop');

export function eventWaitStore(engine: Database): EventWaitStore {
  return {
    async eventWaitAdd({ waits }) {
      await engine.run(ADD, [
        waits.map(({ tenantId }) => tenantId),
        waits.map(({ eventType }) => eventType),
        waits.map(({ key }) => key),
        waits.map(({ executionId }) => executionId),
        waits.map(({ nodeId }) => nodeId),
      ]);
    },
    async eventWaitMatch({ tenantId, eventType, keys, after, limit }) {
      return engine.run(MATCH, [
        tenantId,
        eventType,
        [...keys],
        after?.executionId ?? null,
        after?.nodeId ?? null,
        limit,
      ]);
    },
    async eventWaitDrop({ executionIds }) {
      await engine.run(DROP, [[...executionIds]]);
    },
  };
}
