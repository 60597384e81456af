// The outbox of executions on PostgreSQL: batches of commits, read in order by one leader and turned into messages.

import type { DeliveryStore, OutboxBatch, OutboxRow } from '../delivery-port.ts';
import type { JsonText, Timestamp } from '../port.ts';
import type { Database } from './database.ts';
import { encodeDeliveries, encodeMessages } from './message-columns.ts';
import { statement } from './statement.ts';

const LEAD = statement('outbox_lead');
const READ = statement('outbox_read');
const READ_FACTS = statement('outbox_read_facts');
const LISTENERS = statement('outbox_listeners');
const PUBLISH = statement('outbox_publish');

export function outboxStore(
  engine: Database,
): Pick<DeliveryStore, `outbox${'Lead' | 'Read' | 'Listeners' | 'Publish'}`> {
  return {
    outboxLead: async ({ leaderId, leaseMs }) => (await engine.run(LEAD, [leaderId, leaseMs])).length > 0,
    async outboxRead({ limit, withFacts }) {
      if (withFacts) return batchesOf(await engine.run<FactRow>(READ_FACTS, [limit]));
      const rows = await engine.run<{ batch_id: string; at: Timestamp }>(READ, [limit]);
      return rows.map(({ batch_id: batchId, at }) => ({ batchId, at, rows: [] }));
    },
    async outboxListeners({ eventTypes }) {
      const rows = await engine.run<{ tenant_id: string; event_type: string }>(LISTENERS, [eventTypes]);
      return rows.map(({ tenant_id: tenantId, event_type: eventType }) => ({ tenantId, eventType }));
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
    if (batches.at(-1)?.batchId !== row.batch_id) batches.push({ batchId: row.batch_id, at: row.batch_at, rows: [] });
    // Null: the execution was removed by hand. There is nothing left to tell about it.
    if (row.facts !== null && row.tenant_id !== null) batches.at(-1)!.rows.push(outboxRow(row));
  }
  return batches;
}

const outboxRow = (row: FactRow): OutboxRow => ({
  executionId: row.execution_id,
  runId: row.run_id,
  seq: row.seq,
  at: row.at,
  tenantId: row.tenant_id!,
  workflowId: row.workflow_id,
  version: row.version,
  projectId: row.project_id,
  environmentId: row.environment_id,
  correlationId: row.correlation_id,
  reopens: row.reopens,
  facts: row.facts!,
});

interface FactRow {
  batch_id: string;
  batch_at: Timestamp;
  execution_id: string;
  run_id: string;
  seq: number;
  at: Timestamp;
  facts: JsonText | null;
  tenant_id: string | null;
  workflow_id: string;
  version: number;
  project_id: string;
  environment_id: string;
  correlation_id: string;
  reopens: number;
}
