// Reading executions: what people and programs ask. Part of the one door to storage (port.ts).

import type { Why } from '../protocol/execution.ts';
import type { ActionLogRow, AttemptRow, JournalRow, JsonText, NewExecution, Timestamp } from './port.ts';

export interface ExecutionReader {
  executionGet(params: { tenantId: string; executionId: string }): Promise<ExecutionView | null>;
  /** Whose it is, for callers that prove their right otherwise: the holder of a callback token. */
  executionTenant(params: { executionId: string }): Promise<string | null>;
  /** Whose execution was started with this requestId last, where nobody says which tenant is meant: in loose mode only. */
  requestTenant(params: { requestId: string }): Promise<string | null>;
  /** How the wait of a node stands, without folding anything; null: no such execution. */
  callbackTarget(params: { executionId: string; nodeId: string }): Promise<CallbackTarget | null>;
  /** The execution that was started with this requestId. */
  executionByRequest(params: { tenantId: string; requestId: string }): Promise<string | null>;
  /** Newest first. Without context snapshots: they are large, and asked for one by one. */
  executionList(params: ExecutionFilter): Promise<ListedExecution[]>;
  /** How many there are, counted no further than `limit`. */
  executionCount(params: ExecutionFilter): Promise<number>;
  executionAttempts(params: { executionId: string }): Promise<(AttemptRow & { parameters: JsonText | null })[]>;
  executionJournal(params: { executionId: string; afterSeq: number; limit: number }): Promise<JournalRow[]>;
  /** From the transition that holds the fact after `afterSeq`: its row may begin before. */
  executionJournalFrom(params: { executionId: string; afterSeq: number; limit: number }): Promise<JournalRow[]>;
  executionChildren(params: { executionId: string }): Promise<ExecutionView[]>;
  /** The execution and everything below it, parents before children. */
  executionTree(params: { tenantId: string; executionId: string; limit: number }): Promise<TreeRow[]>;
  executionLogs(params: { executionId: string; limit: number }): Promise<ActionLogRow[]>;
  /** Accepted in the moment of the end, which was decided without them: bodies of signals that no fact tells of. */
  signalMissed(params: { executionId: string }): Promise<{ body: JsonText; at: Timestamp }[]>;
  executionLinks(params: { executionId: string }): Promise<LinkView[]>;
  resourceFind(params: {
    tenantId: string;
    system: string;
    resourceType: string;
    resourceId: string;
  }): Promise<{ executionId: string; nodeId: string; url: string | null } | null>;
  /** Live executions by workflow and tenant: for metrics. */
  queueDepth(): Promise<{ workflowId: string; tenantId: string; depth: number }[]>;
  storeHealth(): Promise<StoreHealth>;
}

export interface StoreHealth {
  /** By whomever. */
  connections: number;
  /** Whether the database takes writes. */
  writable: boolean;
  /** What waits to be published, or to reach a bus, counted up to a bound. */
  backlog: number;
  /** Attempts to reach a bus fail. */
  busIsAway: boolean;
}

export interface CallbackTarget {
  tenantId: string;
  workflowId: string;
  version: number;
  isLive: boolean;
  /** The last wait of the node that ended did so by a callback. */
  wasReceived: boolean;
  /** A wait of the node has ended, or some node was skipped: only the folded journal knows whether the wait is open. */
  mayBeOver: boolean;
}

export interface ExecutionView extends NewExecution {
  status: string;
  startedAt: Timestamp | null;
  endedAt: Timestamp | null;
  outputs: JsonText | null;
  error: JsonText | null;
  contextSnapshot: JsonText | null;
}

export type ListedExecution = ExecutionView & { why: Why | null };

export interface ExecutionFilter {
  tenantId: string;
  /** Only ids below this one: the last of the page before. */
  beforeId: string | null;
  limit: number;
  workflowId?: string | undefined;
  version?: number | undefined;
  status?: readonly string[] | undefined;
  format?: string | undefined;
  parentExecutionId?: string | undefined;
  createdAfter?: Timestamp | undefined;
  createdBefore?: Timestamp | undefined;
  /** Part of the error's code or message, in any case. */
  errorText?: string | undefined;
  why?: Why | undefined;
}

export interface TreeRow {
  executionId: string;
  workflowId: string;
  status: string;
  parentId: string | null;
  parentNode: string | null;
}

export interface LinkView {
  system: string;
  resourceType: string;
  resourceId: string;
  url: string | null;
  nodeId: string;
}
