// Actions on many executions, on PostgreSQL.

import type { BulkRecord, BulkStore } from '../../bulk-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const CREATE = statement('bulk_create');
const GET = statement('bulk_get');
const LIST = statement('bulk_list');
const CLAIM = statement('bulk_claim');
const PROGRESS = statement('bulk_progress');
const STOP = statement('bulk_stop');
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export function bulkStore(reader: Database): BulkStore {
  return {
    async bulkCreate(bulk) {
      const { id, tenantId, requestId, action, selection, version, reason, actor, correlationId, count, isCapped } =
        bulk;
      const about = [action, selection, version, reason, actor, correlationId, count, isCapped];
      return (await reader.run(CREATE, [id, tenantId, requestId, ...about])).length > 0;
    },
    async bulkGet({ tenantId, ref }) {
      const [id, requestId] = 'id' in ref ? [ref.id, null] : [null, ref.requestId];
      const [row] = await reader.run<BulkRecord>(GET, [tenantId, id, requestId]);
      return row ?? null;
    },
    async bulkList({ tenantId, beforeId, limit }) {
      return await reader.run<BulkRecord>(LIST, [tenantId, beforeId ?? HIGHEST, limit]);
    },
    async bulkClaim({ leaseMs }) {
      const [row] = await reader.run<BulkRecord>(CLAIM, [leaseMs]);
      return row ?? null;
    },
    async bulkProgress({ id, done, failed, skipped, lastError, cursor, isOver, leaseMs }) {
      const values = [id, done, failed, skipped, lastError, cursor, isOver, leaseMs];
      return (await reader.run(PROGRESS, values)).length > 0;
    },
    bulkStop: async ({ tenantId, id }) => (await reader.run(STOP, [tenantId, id])).length > 0,
  };
}
