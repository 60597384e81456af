// Waits of executions for events. See src/store/postgres/event-wait/event-wait.sql.

import type { Statements, Tables } from './tables.ts';

type EventWaitStatements = Pick<Statements, 'eventWaitAdd' | 'eventWaitMatch' | 'eventWaitDrop'>;

export function eventWaitStatements(tables: Tables): EventWaitStatements {
  const { eventWaits, queue } = tables;
  return {
    eventWaitAdd({ waits }) {
      for (const wait of waits) {
        const { executionId, nodeId, eventType, key } = wait;
        if (queue.has(executionId)) eventWaits.set(JSON.stringify([executionId, nodeId, eventType, key]), { ...wait });
      }
    },
    eventWaitMatch({ tenantId, eventType, keys, after, limit }) {
      const found = new Map<string, { executionId: string; nodeId: string }>();
      for (const { executionId, nodeId, ...wait } of eventWaits.values()) {
        if (wait.tenantId !== tenantId || wait.eventType !== eventType || !keys.includes(wait.key)) continue;
        found.set(`${executionId} ${nodeId}`, { executionId, nodeId });
      }
      const from = after === null ? '' : `${after.executionId} ${after.nodeId}`;
      const places = [...found.keys()].filter((place) => place > from).sort();
      return places.slice(0, limit).map((place) => found.get(place)!);
    },
    eventWaitDrop({ executionIds }) {
      for (const [key, { executionId }] of eventWaits) {
        if (executionIds.includes(executionId) && !queue.has(executionId)) eventWaits.delete(key);
      }
    },
  };
}
