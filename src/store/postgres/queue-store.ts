// Queue: waking what is due or has mail, and the audit of I12.

import type { QueueStore } from '../port.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

const WAKE = statement('queue_wake');
const WAKE_MAIL = statement('queue_wake_mail');
const LANES = statement('queue_lanes');
const AUDIT = statement('queue_audit');

export function queueStore(engine: Database, reader: Database): QueueStore {
  return {
    queueWake: async ({ limit }) => (await engine.run(WAKE, [limit])).length,
    queueWakeMail: async ({ limit }) => (await engine.run(WAKE_MAIL, [limit])).length,
    async queueLanes({ limit }) {
      const rows = await engine.run<{ tenant_id: string; priority: number; ready_at: number }>(LANES, [limit]);
      return rows.map((row) => ({ tenantId: row.tenant_id, priority: row.priority, oldestReadyAt: row.ready_at }));
    },
    async queueAudit() {
      const rows = await reader.run<{ execution_id: string; problem: string }>(AUDIT, []);
      return rows.map((row) => ({ executionId: row.execution_id, problem: row.problem }));
    },
  };
}
