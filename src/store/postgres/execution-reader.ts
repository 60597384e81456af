// Reading: what people and programs ask, on the read pool.

import { signalKey } from '../../core/decider/signal-key.ts';
import type { ActionLogRow, AttemptRow, JournalRow, JsonText, Timestamp } from '../port.ts';
import type { ExecutionReader, LinkView, StoreHealth, TreeRow } from '../reader-port.ts';
import type { Database } from './database.ts';
import { countExecutions, listExecutions } from './execution-list.ts';
import { executionView, type ViewRow } from './execution-view.ts';
import { statement } from './statement.ts';

const GET = statement('execution_get');
const TENANT = statement('execution_tenant');
const REQUEST_TENANT = statement('request_tenant');
const CALLBACK = statement('callback_target');
const BY_REQUEST = statement('execution_by_request');
const CHILDREN = statement('execution_children');
const ATTEMPTS = statement('execution_attempts');
const PARAMETERS = statement('execution_parameters');
const JOURNAL = statement('execution_journal');
const JOURNAL_FROM = statement('execution_journal_from');
const TREE = statement('execution_tree');
const LINKS = statement('execution_links');
const DEPTH = statement('queue_depth');
const HEALTH = statement('store_health');
const LOGS = statement('execution_logs');
const ACCEPTED_SIGNALS = statement('signal_accepted');
const SIGNAL_FACTS = statement('signal_facts');
const FIND_RESOURCE = statement('resource_find');

export function executionReader(reader: Database): ExecutionReader {
  return {
    async executionGet({ tenantId, executionId }) {
      const [row] = await reader.run<ViewRow>(GET, [executionId, tenantId]);
      return row === undefined ? null : executionView(row);
    },
    async requestTenant({ requestId }) {
      const [row] = await reader.run<{ tenant_id: string }>(REQUEST_TENANT, [requestId]);
      return row?.tenant_id ?? null;
    },
    async executionTenant({ executionId }) {
      const [row] = await reader.run<{ tenant_id: string }>(TENANT, [executionId]);
      return row?.tenant_id ?? null;
    },
    async callbackTarget({ executionId, nodeId }) {
      const [row] = await reader.run<CallbackRecord>(CALLBACK, [executionId, nodeId]);
      if (row === undefined) return null;
      const { tenant_id: tenantId, workflow_id: workflowId, version } = row;
      const { is_live: isLive, was_received: wasReceived, may_be_over: mayBeOver } = row;
      return { tenantId, workflowId, version, isLive, wasReceived, mayBeOver };
    },
    async executionByRequest({ tenantId, requestId }) {
      const [row] = await reader.run<{ id: string }>(BY_REQUEST, [tenantId, requestId]);
      return row?.id ?? null;
    },
    executionList: (filter) => listExecutions(reader, filter),
    executionCount: (filter) => countExecutions(reader, filter),
    executionChildren: async ({ executionId }) =>
      (await reader.run<ViewRow>(CHILDREN, [executionId])).map(executionView),
    async executionAttempts({ executionId }) {
      const attempts = await reader.run<AttemptRecord>(ATTEMPTS, [executionId]);
      const inputs = await reader.run<InputsRecord>(PARAMETERS, [executionId]);
      const parametersOf = parameterLookup(inputs);
      return attempts.map((row) => attemptRow(row, parametersOf(row.node_id, row.started_seq)));
    },
    executionJournal: ({ executionId, afterSeq, limit }) =>
      reader.run<JournalRow>(JOURNAL, [executionId, afterSeq, limit]),
    executionJournalFrom: ({ executionId, afterSeq, limit }) =>
      reader.run<JournalRow>(JOURNAL_FROM, [executionId, afterSeq, limit]),
    async executionTree({ tenantId, executionId, limit }) {
      const rows = await reader.run<TreeRecord>(TREE, [executionId, tenantId, limit]);
      return rows.map(treeRow);
    },
    signalMissed: ({ executionId }) => missedSignals(reader, executionId),
    executionLinks: async ({ executionId }) => (await reader.run<LinkRecord>(LINKS, [executionId])).map(linkView),
    async queueDepth() {
      const rows = await reader.run<{ workflow_id: string; tenant_id: string; depth: number }>(DEPTH, []);
      return rows.map((row) => ({ workflowId: row.workflow_id, tenantId: row.tenant_id, depth: row.depth }));
    },
    async storeHealth() {
      const [row] = await reader.run<StoreHealth & { bus_is_away: boolean }>(HEALTH, []);
      const { bus_is_away: busIsAway, ...health } = row!;
      return { ...health, busIsAway };
    },
    async executionLogs({ executionId, limit }) {
      const rows = await reader.run<LogRecord>(LOGS, [executionId, limit]);
      return rows.map(({ node_id, ...row }) => ({ executionId, nodeId: node_id, ...row }));
    },
    async resourceFind({ tenantId, system, resourceType, resourceId }) {
      const values = [tenantId, system, resourceType, resourceId];
      const [row] = await reader.run<{ execution_id: string; node_id: string; external_url: string | null }>(
        FIND_RESOURCE,
        values,
      );
      return row === undefined ? null : { executionId: row.execution_id, nodeId: row.node_id, url: row.external_url };
    },
  };
}

async function missedSignals(reader: Database, executionId: string): Promise<{ body: JsonText; at: Timestamp }[]> {
  const accepted = await reader.run<SignalRecord>(ACCEPTED_SIGNALS, [executionId]);
  if (accepted.length === 0) return [];
  const facts = await reader.run<{ fact: JsonText }>(SIGNAL_FACTS, [executionId]);
  const told = new Set(facts.map(({ fact }) => signalKey(JSON.parse(fact))));
  return accepted.filter(({ signal_id: key }) => !told.has(key)).map(({ body, at }) => ({ body, at }));
}

/**
 * What a node was given: recorded with the transition that started it, and reused by retries, so the latest that is not newer
 * than the attempt. Taken apart here, because PostgreSQL's operators refuse values that json itself can hold.
 */
function parameterLookup(inputs: InputsRecord[]): (nodeId: string, startedSeq: number) => JsonText | null {
  const recorded = new Map<string, { seq: number; parameters: JsonText }[]>();
  for (const { seq, inputs: text } of inputs) {
    for (const [nodeId, value] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
      const earlier = recorded.get(nodeId) ?? [];
      recorded.set(nodeId, [...earlier, { seq, parameters: JSON.stringify(value) }]);
    }
  }
  return (nodeId, startedSeq) => recorded.get(nodeId)?.findLast(({ seq }) => seq <= startedSeq)?.parameters ?? null;
}

function attemptRow(row: AttemptRecord, parameters: JsonText | null): AttemptRow & { parameters: JsonText | null } {
  return {
    executionId: row.execution_id,
    nodeId: row.node_id,
    attempt: row.attempt,
    actionType: row.action_type,
    status: row.status,
    startedSeq: row.started_seq,
    outputs: row.outputs,
    error: row.error,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    parameters,
  };
}

const treeRow = (row: TreeRecord): TreeRow => ({
  executionId: row.id,
  workflowId: row.workflow_id,
  status: row.status,
  parentId: row.parent_id,
  parentNode: row.parent_node,
});

const linkView = (row: LinkRecord): LinkView => ({
  system: row.system_name,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  url: row.external_url,
  nodeId: row.node_id,
});

interface CallbackRecord {
  tenant_id: string;
  workflow_id: string;
  version: number;
  is_live: boolean;
  was_received: boolean;
  may_be_over: boolean;
}

interface SignalRecord {
  signal_id: string;
  body: JsonText;
  at: Timestamp;
}

interface TreeRecord {
  id: string;
  workflow_id: string;
  status: string;
  parent_id: string | null;
  parent_node: string | null;
}

interface LinkRecord {
  system_name: string;
  resource_type: string;
  resource_id: string;
  external_url: string | null;
  node_id: string;
}

interface AttemptRecord {
  execution_id: string;
  node_id: string;
  attempt: number;
  action_type: string;
  status: AttemptRow['status'];
  started_seq: number;
  outputs: JsonText | null;
  error: JsonText | null;
  started_at: Timestamp;
  ended_at: Timestamp;
}

interface InputsRecord {
  seq: number;
  inputs: JsonText;
}

type LogRecord = Omit<ActionLogRow, 'executionId' | 'nodeId'> & { node_id: string };
