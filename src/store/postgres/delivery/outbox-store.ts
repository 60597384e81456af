// The outbox of executions on PostgreSQL: batches of commits, read in order by one leader and turned into messages.

import type { DeliveryStore, OutboxBatch, OutboxRow } from '../../delivery-port.ts';
import type { OutsideDriver } from '../../external-port.ts';
import type { JsonText, Timestamp } from '../../port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';
import { encodeDeliveries, encodeMessages } from './message-columns.ts';

const LEAD = statement('outbox_lead');
const READ = statement('outbox_read');
const READ_FACTS = statement('outbox_read_facts');
const AGAIN = statement('outbox_again');
const TELL = statement('outbox_tell');
const LISTENERS = statement('outbox_listeners');
const PUBLISH = statement('outbox_publish');

export function outboxStore(
  engine: Database,
): Pick<DeliveryStore, `outbox${'Lead' | 'Read' | 'Listeners' | 'Publish' | 'Again' | 'Tell'}`> {
  return {
    outboxLead: async ({ leaderId, leaseMs }) => (await engine.run(LEAD, [leaderId, leaseMs])).length > 0,
    async outboxRead({ limit, withFacts }) {
      if (withFacts) return batchesOf(await engine.run<FactRow>(READ_FACTS, [limit]));
      const rows = await engine.run<{ batchId: string; at: Timestamp }>(READ, [limit]);
      return rows.map(({ batchId, at }) => ({ batchId, at, rows: [] }));
    },
    async outboxAgain({ tenantId, executionId }) {
      return (await engine.run<FactRow>(AGAIN, [tenantId, executionId])).map(outboxRow);
    },
    async outboxTell({ messages, deliveries }) {
      await engine.run(TELL, [...encodeMessages(messages), ...encodeDeliveries(deliveries)]);
    },
    async outboxListeners({ eventTypes }) {
      const rows = await engine.run<{ tenantId: string; eventType: string }>(LISTENERS, [eventTypes]);
      return rows.map(({ tenantId, eventType }) => ({ tenantId, eventType }));
    },
    async outboxPublish({ leaderId, batchIds, messages, deliveries }) {
      const values = [leaderId, batchIds, ...encodeMessages(messages), ...encodeDeliveries(deliveries)];
      const [row] = await engine.run<{ applied: boolean }>(PUBLISH, values);
      return row!;
    },
  };
}

function batchesOf(rows: readonly FactRow[]): OutboxBatch[] {
  const batches: (OutboxBatch & { rows: OutboxRow[] })[] = [];
  for (const row of rows) {
    if (batches.at(-1)?.batchId !== row.batchId) batches.push({ batchId: row.batchId, at: row.batchAt, rows: [] });
    // Null: the execution was removed by hand. There is nothing left to tell about it.
    if (row.facts !== null && row.tenantId !== null) batches.at(-1)!.rows.push(outboxRow(row));
  }
  return batches;
}

const outboxRow = (row: FactRow): OutboxRow => ({
  executionId: row.executionId,
  runId: row.runId,
  seq: row.seq,
  at: row.at,
  tenantId: row.tenantId!,
  workflowId: row.workflowId,
  version: row.version,
  projectId: row.projectId,
  environmentId: row.environmentId,
  correlationId: row.correlationId,
  reopens: row.reopens,
  driver: row.driver,
  engineRunRef: row.ref,
  facts: row.facts!,
});

interface FactRow {
  batchId: string;
  batchAt: Timestamp;
  executionId: string;
  runId: string;
  seq: number;
  at: Timestamp;
  facts: JsonText | null;
  tenantId: string | null;
  workflowId: string;
  version: number;
  projectId: string;
  environmentId: string;
  correlationId: string;
  reopens: number;
  driver: OutsideDriver | null;
  ref: JsonText | null;
}
