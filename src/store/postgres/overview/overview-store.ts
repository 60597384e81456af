// Numbers that stand beside lists, on PostgreSQL.

import type { ConsumerBacklog, OverviewStore } from '../../overview-port.ts';
import type { Timestamp } from '../../port.ts';
import type { FiringRecord } from '../../trigger-port.ts';
import { uuidArray } from '../array-parameter.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const BACKLOGS = statement('consumer_backlogs');
const STATES = statement('lifecycle_state_counts');
const FIRINGS = statement('last_firings');
const MISSED = statement('last_missed');

export function overviewStore(reader: Database): OverviewStore {
  return {
    async consumerBacklogs({ tenantId }) {
      const rows = await reader.run<BacklogRow>(BACKLOGS, [tenantId]);
      return rows.map(({ oldestAt, lastError, ...row }) => ({ ...row, oldestAt, lastError }));
    },
    stateCounts: ({ tenantId, env, name }) =>
      reader.run<{ state: string; count: number }>(STATES, [tenantId, env, name]),
    lastFirings: ({ tenantId, triggerIds }) => firings(reader, FIRINGS, tenantId, triggerIds),
    lastMissed: ({ tenantId, triggerIds }) => firings(reader, MISSED, tenantId, triggerIds),
  };
}

async function firings(
  reader: Database,
  query: typeof FIRINGS,
  tenantId: string,
  triggerIds: readonly string[],
): Promise<FiringRecord[]> {
  if (triggerIds.length === 0) return [];
  const rows = await reader.run<FiringRow>(query, [tenantId, uuidArray([...triggerIds])]);
  return rows.map((row) => ({
    id: row.id,
    triggerId: row.triggerId,
    requestId: row.requestId,
    slot: row.slot,
    outcome: row.outcome,
    executionId: row.executionId,
    reason: row.reason,
    firedAt: row.firedAt,
  }));
}

type BacklogRow = Omit<ConsumerBacklog, 'oldestAt' | 'lastError'> & {
  oldestAt: Timestamp | null;
  lastError: string | null;
};

interface FiringRow {
  id: string;
  triggerId: string;
  requestId: string;
  slot: number | null;
  outcome: FiringRecord['outcome'];
  executionId: string | null;
  reason: string | null;
  firedAt: number;
}
