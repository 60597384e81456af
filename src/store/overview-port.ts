// Numbers for lists: the backlog of consumers, instances by state, the last firing of triggers. Counts stop at 10,000.

import type { Timestamp } from './port.ts';
import type { FiringRecord } from './trigger-port.ts';

export interface OverviewStore {
  consumerBacklogs(params: { tenantId: string }): Promise<ConsumerBacklog[]>;
  stateCounts(params: { tenantId: string; env: string; name: string }): Promise<{ state: string; count: number }[]>;
  lastFirings(params: { tenantId: string; triggerIds: readonly string[] }): Promise<FiringRecord[]>;
  /** Of schedules: the newest record of slots that were missed, if it is among the last hundred firings. */
  lastMissed(params: { tenantId: string; triggerIds: readonly string[] }): Promise<FiringRecord[]>;
}

export interface ConsumerBacklog {
  code: string;
  pending: number;
  failed: number;
  dead: number;
  /** When the message that is due first was made. */
  oldestAt: Timestamp | null;
  lastError: string | null;
}
