// The outbox of executions. See src/store/postgres/delivery/outbox.sql.

import type { Fact } from '../../../src/core/decider/fact.ts';
import type { DeliveryStore, OutboxRow } from '../../../src/store/delivery-port.ts';
import { checkSent } from './column.ts';
import { addDeliveries, addMessages } from './message-rows.ts';
import type { Statements, Tables } from './tables.ts';

type OutboxStatements = Pick<Statements, Extract<keyof DeliveryStore, `outbox${string}`>>;

export function outboxStatements(tables: Tables): OutboxStatements {
  const { messaging, batches } = tables;
  return {
    outboxLead({ leaderId, leaseMs }) {
      const now = tables.clock();
      const { leader } = messaging;
      if (leader !== null && leader.leaderId !== leaderId && leader.expiresAt >= now) return false;
      messaging.leader = { leaderId, expiresAt: now + leaseMs };
      return true;
    },
    outboxRead: ({ limit, withFacts }) =>
      [...batches].slice(0, limit).map(([batchId, { at, rows }]) => ({
        batchId,
        at: Math.floor(at),
        rows: withFacts ? rows.flatMap((row) => outboxRow(tables, row) ?? []) : [],
      })),
    outboxAgain: ({ executionId }) =>
      (tables.events.get(executionId) ?? []).flatMap(({ seq }) => outboxRow(tables, { executionId, seq }) ?? []),
    outboxTell({ messages, deliveries }) {
      checkSent(messages, deliveries);
      addMessages(tables, messages);
      addDeliveries(tables, deliveries);
    },
    // This database has no triggers.
    outboxListeners: () => [],
    outboxPublish({ leaderId, batchIds, messages, deliveries }) {
      checkSent(messages, deliveries);
      const isLeader = messaging.leader?.leaderId === leaderId;
      if (!isLeader || !batchIds.every((id) => batches.has(id))) return { applied: false };
      for (const id of batchIds) batches.delete(id);
      addMessages(tables, messages);
      addDeliveries(tables, deliveries);
      return { applied: true };
    },
  };
}

const ENDS = new Set<Fact['type']>([
  'ExecutionSucceeded',
  'ExecutionFailed',
  'ExecutionCancelled',
  'ExecutionTimedOut',
]);

function outboxRow(tables: Tables, { executionId, seq }: { executionId: string; seq: number }): OutboxRow | null {
  const events = tables.events.get(executionId) ?? [];
  const event = events.find((row) => row.seq === seq);
  const execution = tables.executions.get(executionId);
  if (event === undefined || execution === undefined) return null;
  const factsOf = (facts: string) => JSON.parse(facts) as Fact[];
  const isEnd = factsOf(event.facts).some(({ type }) => ENDS.has(type));
  const before = events.filter((row) => row.seq <= seq).flatMap(({ facts }) => factsOf(facts));
  const reopens = isEnd ? before.filter(({ type }) => type === 'ExecutionReopened').length : 0;
  const { tenantId, workflowId, version, projectId, environmentId, correlationId, format, requestId } = execution;
  const runId = format === 'plan' ? (requestId ?? executionId) : executionId;
  const named = { tenantId, workflowId, version, projectId, environmentId, correlationId };
  const { driver = null, ref: engineRunRef = null } = tables.externalRuns.get(executionId) ?? {};
  return { executionId, runId, seq, at: event.at, ...named, reopens, driver, engineRunRef, facts: event.facts };
}
