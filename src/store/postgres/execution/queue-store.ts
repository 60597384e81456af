// Queue: waking what is due or has mail, and the audit of I12.

import type { QueueLook, QueueStore } from '../../port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const WAKE = statement('queue_wake');
const WAKE_MAIL = statement('queue_wake_mail');
const LANES = statement('queue_lanes');
const AUDIT = statement('queue_audit');

/** No tenant has an empty name. */
const BEFORE_ALL = { tenantId: '', priority: -1 };

export function queueStore(engine: Database, reader: Database): QueueStore {
  return {
    async queueWake({ limit, readyForMs = 0 }) {
      const [row] = await engine.run<QueueLook>(WAKE, [limit, readyForMs]);
      return row!;
    },
    queueWakeMail: async ({ limit }) => (await engine.run(WAKE_MAIL, [limit])).length,
    async queueLanes({ limit, after }) {
      const { tenantId, priority } = after ?? BEFORE_ALL;
      const values = [limit, tenantId, priority];
      const rows = await engine.run<{ tenantId: string; priority: number; readyAt: number }>(LANES, values);
      return rows.map(({ readyAt, ...lane }) => ({ ...lane, oldestReadyAt: readyAt }));
    },
    queueAudit: () => reader.run(AUDIT, []),
  };
}
