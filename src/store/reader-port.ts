// Reads of executions for people and programs. Part of the storage port (port.ts).

import type { Why } from '../protocol/execution.ts';
import type { ExecutionFilters } from '../protocol/execution-list.ts';
import type { EXECUTION_STATE_FIELDS, Fields } from './execution-fields.ts';
import type { ActionLogRow, AttemptRow, JournalRow, JsonText, NewExecution, Timestamp } from './port.ts';

export interface ExecutionReader {
  executionGet(params: { tenantId: string; executionId: string }): Promise<ExecutionView | null>;
  /** Those of them that exist. */
  executionKnown(params: { executionIds: string[] }): Promise<string[]>;
  /** Those of them that have ended. */
  executionEnded(params: { executionIds: string[] }): Promise<string[]>;
  /** The progress of each execution; `seq`: the start of its last transition, -1 if it has none. */
  executionHeads(params: { executionIds: string[] }): Promise<ExecutionHead[]>;
  /** The tenant of an execution, for callers with another proof: a callback token. */
  executionTenant(params: { executionId: string }): Promise<string | null>;
  /** The tenant of the newest execution with this requestId; only used in loose mode. */
  requestTenant(params: { requestId: string }): Promise<string | null>;
  /** The state of a node's wait, without folding; null: no such execution. */
  callbackTarget(params: { executionId: string; nodeId: string }): Promise<CallbackTarget | null>;
  /** The execution that was started with this requestId. */
  executionByRequest(params: { tenantId: string; requestId: string }): Promise<string | null>;
  /** Ids of executions, newest first; looks at no more than 50,000, or `maxLooked`. */
  executionPage(params: ExecutionFilter & { maxLooked?: number }): Promise<ExecutionPage>;
  /** Newest first. Without context snapshots: they are large, and asked for one by one. */
  executionList(params: { ids: readonly string[] }): Promise<ListedExecution[]>;
  /** Newest first, without payloads. */
  executionBrief(params: { ids: readonly string[] }): Promise<BriefExecution[]>;
  /** For live ones: the reason, end and place of their wait. */
  executionStandings(params: { ids: readonly string[] }): Promise<ExecutionStanding[]>;
  /** Ids of executions with an open callback, newest first. */
  waitingPage(params: ExecutionFilter): Promise<ExecutionPage>;
  /** The number of live executions by kind, each counted up to `limit`. */
  liveNow(params: { tenantId: string; limit: number }): Promise<LiveNow>;
  /** How often a node of an execution was tried, by execution; one node of each. */
  attemptCounts(params: {
    nodes: readonly { readonly executionId: string; readonly nodeId: string }[];
  }): Promise<ReadonlyMap<string, number>>;
  /** One node's attempts that have ended, the newest `limit`, oldest first. */
  nodeAttempts(params: { executionId: string; nodeId: string; limit: number }): Promise<AttemptRow[]>;
  /** Attempts that the transitions after `afterSeq` up to `untilSeq` started, and that waited for a free place. */
  attemptWaits(params: { executionId: string; afterSeq: number; untilSeq: number }): Promise<AttemptWait[]>;
  /** The last attempt that has ended of each of these nodes. */
  nodesLastAttempts(params: { executionId: string; nodeIds: readonly string[] }): Promise<AttemptRow[]>;
  nodeLogs(params: { executionId: string; nodeId: string; limit: number }): Promise<ActionLogRow[]>;
  /** Attempts that have ended, in the order in which they began. Without their parameters, unless they are asked for. */
  executionAttempts(params: {
    executionId: string;
    parameters?: boolean;
    /** Of these nodes alone. */
    nodeIds?: readonly string[] | null;
  }): Promise<(AttemptRow & { parameters: JsonText | null })[]>;
  executionAttemptCount(params: { executionId: string }): Promise<number>;
  /** Bytes of all parameters and outputs. */
  executionWeight(params: { executionId: string }): Promise<number>;
  /** Some of them with parameters, others without parameters and outputs, as requested. */
  executionAttemptPage(params: {
    executionId: string;
    offset: number;
    limit: number;
    payloads: boolean;
  }): Promise<(AttemptRow & { parameters: JsonText | null })[]>;
  executionJournal(params: { executionId: string; afterSeq: number; limit: number }): Promise<JournalRow[]>;
  /** From the transition with the fact after `afterSeq`: its row may begin before. */
  executionJournalFrom(params: { executionId: string; afterSeq: number; limit: number }): Promise<JournalRow[]>;
  /** Oldest first; all of them, unless told which. */
  executionChildren(params: { executionId: string; offset?: number; limit?: number }): Promise<ExecutionView[]>;
  /** The execution and everything below it, parents before children. */
  executionTree(params: { tenantId: string; executionId: string; limit: number }): Promise<TreeRow[]>;
  executionLogs(params: { executionId: string; limit: number }): Promise<ActionLogRow[]>;
  /** Signals that were accepted in the moment of the end, which was decided without them: no fact mentions them. */
  signalMissed(params: { executionId: string }): Promise<{ body: JsonText; at: Timestamp }[]>;
  executionLinks(params: { executionId: string; offset?: number; limit?: number }): Promise<LinkView[]>;
  resourceFind(params: {
    tenantId: string;
    system: string;
    resourceType: string;
    resourceId: string;
  }): Promise<{ executionId: string; nodeId: string; url: string | null } | null>;
  /** Resources by system, type and id, with the execution that each belongs to; those after `after`. */
  resourceList(params: {
    tenantId: string;
    system: string | null;
    resourceType: string | null;
    resourceId: string | null;
    after: { system: string; resourceType: string; resourceId: string };
    limit: number;
  }): Promise<LinkedResource[]>;
  /** The resources of the tenant with exactly this text. `uuid`: the text, if it is one. */
  findText(params: { tenantId: string; text: string; uuid: string | null }): Promise<FoundText[]>;
  /** Live executions by workflow and tenant: for metrics. */
  /** Executions that have worked for longer than this on any engine, without sleeping or waiting. Oldest first. */
  executionBusy(params: {
    longerThanMs: number;
    limit: number;
  }): Promise<{ executionId: string; tenantId: string; workflowId: string; startedAt: Timestamp }[]>;
  queueDepth(): Promise<{ workflowId: string; tenantId: string; depth: number; ready: number }[]>;
  storeHealth(): Promise<StoreHealth>;
}

export type LinkedResource = LinkView & { executionId: string; createdAt: Timestamp };

export interface ExecutionHead {
  executionId: string;
  seq: number;
  ended: boolean;
  /** Of the newest log line of an attempt that still runs; 0: there is none. */
  lineId: number;
}

export interface FoundText {
  kind: string;
  id: string;
  title: string;
}

export interface StoreHealth {
  /** By whomever. */
  connections: number;
  /** Whether the database takes writes. */
  writable: boolean;
  /** The number of messages that wait to be published or to reach a bus, up to a bound. */
  backlog: number;
  /** Attempts to reach a bus fail. */
  busIsAway: boolean;
}

export interface CallbackTarget {
  tenantId: string;
  workflowId: string;
  version: number;
  isLive: boolean;
  /** The node's last wait ended by a callback. */
  wasReceived: boolean;
  /** A wait of the node has ended, or some node was skipped: only the folded journal knows whether the wait is open. */
  mayBeOver: boolean;
}

export interface ExecutionView extends NewExecution, Fields<typeof EXECUTION_STATE_FIELDS> {}

export type ListedExecution = ExecutionView & { why: Why | null };

/** `failedNodes`: of a pipeline that has succeeded. */
export type BriefExecution = Omit<ExecutionView, 'trigger' | 'spec' | 'outputs' | 'contextSnapshot'> & {
  failedNodes: number | null;
};

export interface ExecutionPage {
  ids: string[];
  /** The last id that was looked at, if that is why the page is short. */
  searchedTo: string | null;
}

export interface LiveNow extends Record<Why, number> {
  /** A runner has a lease. */
  hasRunner: boolean;
  /** Since when the oldest of those that are ready waits for a runner. */
  oldestReadyAt: Timestamp | null;
  /** Counted up to a thousand. */
  deadLetters: number;
  /** Id of the newest execution. */
  newest: string | null;
}

export interface AttemptWait {
  nodeId: string;
  attempt: number;
  waitedMs: number;
}

export interface ExecutionStanding {
  executionId: string;
  why: Why;
  dueAt: Timestamp | null;
  /** The runner that has it in memory. */
  owner: string | null;
  /** Task queues in which attempts of it wait for workers, or are with them. */
  taskQueues: string[];
  /** The last attempt that failed. */
  last: { nodeId: string; attempt: number; error: JsonText } | null;
}

/** The list filters of the API, except those that must be looked up or converted first. */
type AskedFilters = Omit<
  ExecutionFilters,
  'status' | 'error' | 'olderThan' | 'createdAfter' | 'createdBefore' | 'requestId' | 'resource'
>;

export interface ExecutionFilter extends AskedFilters {
  tenantId: string;
  /** Only ids below this one: the last of the page before. */
  beforeId: string | null;
  limit: number;
  status?: readonly string[] | undefined;
  createdAfter?: Timestamp | undefined;
  createdBefore?: Timestamp | undefined;
  /** Part of the error's code or message, in any case. */
  errorText?: string | undefined;
  /** Only these. */
  ids?: readonly string[] | undefined;
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
