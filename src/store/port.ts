// The one door to storage. Everything the engine knows about the database is here, and in the ports of the other aggregates
// beside it: atomic statements, each of which either happens or does not. One params object per method, `aggregateVerb`.
// Implementations: store/postgres, and the simulated one of test/simulation; both pass the same contract suite. JSON travels as
// text, so that what is sent again is byte for byte what was sent before (I18) and what is read is exactly what was written (I15).

import type { AccessStore } from './access-port.ts';
import type { ArtifactStoreIndex } from './artifact-port.ts';
import type { AuditStore } from './audit-port.ts';
import type { BulkStore } from './bulk-port.ts';
import type { ActionRow, CatalogStore, ConnectorRow } from './catalog-port.ts';
import type { DeliveryStore } from './delivery-port.ts';
import type { ErasureStore } from './erasure-port.ts';
import type { EventWaitStore } from './event-wait-port.ts';
import type { EXECUTION_FIELDS, Fields } from './execution-fields.ts';
import type { ExternalStore, OutsideDriver } from './external-port.ts';
import type { LifecycleStore } from './lifecycle-port.ts';
import type { LiveLineStore } from './live-line-port.ts';
import type { OperationStore } from './operation-port.ts';
import type { OverviewStore } from './overview-port.ts';
import type { PluginStore } from './plugin-port.ts';
import type { QuotaStore } from './quota-port.ts';
import type { ExecutionReader } from './reader-port.ts';
import type { RunnerStore } from './runner-port.ts';
import type { ConnectionStore, SecretStore } from './secret-port.ts';
import type { StatisticsStore } from './statistics-port.ts';
import type { TaskQueueStore } from './task-queue-port.ts';
import type { TemplateStore } from './template-port.ts';
import type { TriggerStore } from './trigger-port.ts';
import type { NewDefinition, WorkflowLifeStore } from './workflow-port.ts';

/** Text that is valid JSON. */
export type JsonText = string;

/** Milliseconds since the epoch, by the database's clock. */
export type Timestamp = number;

export interface Store
  extends RunnerStore,
    ExecutionStore,
    QueueStore,
    InboxStore,
    WorkflowStore,
    WorkflowLifeStore,
    TriggerStore,
    TemplateStore,
    ExecutionReader,
    CatalogStore,
    AccessStore,
    QuotaStore,
    LifecycleStore,
    DeliveryStore,
    AuditStore,
    StatisticsStore,
    OverviewStore,
    BulkStore,
    ExternalStore,
    ArtifactStoreIndex,
    SecretStore,
    ConnectionStore,
    EventWaitStore,
    ErasureStore,
    PluginStore,
    LiveLineStore,
    TaskQueueStore,
    OperationStore {
  close(): Promise<void>;
}

/** After this many crashes of its owners an execution is a suspect: it runs beside few others, and finally alone. */
export const SUSPICIOUS_CRASHES = 2;
/** More than anybody has. */
export const MANY_CRASHES = 32_767;

export interface ExecutionStore {
  /** Many at once, one statement. A requestId that exists already (per tenant) is not inserted; see `existing`. */
  executionStart(params: { items: NewExecution[] }): Promise<StartOutcome[]>;
  /**
   * The same, and what is new belongs to the slot's runner at once, with epoch 1, as if it had claimed it: `owned` names
   * them. When the fence is dead nothing is owned, and what is new is ready like any other (I4).
   */
  executionStartOwned(params: { slotId: string; items: NewExecution[] }): Promise<OwnedStart>;
  executionClaim(params: {
    slotId: string;
    lanes: { tenantId: string; priority: number; mark: Timestamp }[];
    perLane: number;
    limit: number;
    /** Rows that need a newer behaviour than this are left for runners that understand them. */
    behaviour: number;
    /** Rows with more crashes are left, because the number of suspects that run at a time is limited. */
    maxCrashes?: number;
    /** Among rows with SUSPICIOUS_CRASHES or more, those with the fewest. Rows with `lastChance` crashes are left: see `alone`. */
    suspects?: { atMost: number; lastChance: number };
    /** Claims only a single row with `suspects.lastChance` crashes. */
    alone?: boolean;
    /** Executions of these workflows are left, unless they have mail. */
    except?: readonly WorkflowKey[];
  }): Promise<ClaimResult>;
  /** One query for the batch, in a new snapshot. Journal rows after the checkpoint's seq, if there is a usable one. */
  executionLoad(params: { executionIds: string[]; deciderVersion: number }): Promise<LoadedExecution[]>;
  /** The approximate number of bytes to load for each execution; missing executions are left out. */
  executionLoadBytes(params: { executionIds: string[] }): Promise<{ executionId: string; bytes: number }[]>;
  /** Parameters recorded at the given sequences of one execution's journal. */
  executionInputs(params: {
    items: readonly { executionId: string; seq: number }[];
  }): Promise<{ executionId: string; seq: number; inputs: JsonText | null }[]>;
  /** The hot path: one atomic statement under one fence row (I4, I17). `applied: false` = the fence is dead. */
  executionCommit(params: CommitBatch): Promise<{ applied: boolean; at: Timestamp }>;
  /** Owned → parked, with a due time or open waits (I12). Returns the ids that were parked. */
  executionPark(params: { slotId: string; items: ParkItem[] }): Promise<{ parked: string[]; at: Timestamp }>;
  /** A NEW statement after a park: those with mail become ready again. Returns their ids. */
  parkCheck(params: { executionIds: string[] }): Promise<string[]>;
  /** Owned → ready, by the owner itself: what it cannot or must not go on with. */
  executionRelease(params: { slotId: string; items: OwnedExecution[] }): Promise<string[]>;
  /** The executions that this runner owns in the database: reconciled with memory after a failed claim (I18). */
  executionListOwned(params: { runnerId: string }): Promise<OwnedExecution[]>;
  /** Reserves these links for their execution, and tells those whose resource another one holds (WFENG003). Before the commit. */
  resourceLinkCheck(params: { links: ResourceLinkRow[] }): Promise<ResourceLinkConflict[]>;
  /**
   * An ended execution is live again: its outcome goes, its queue row and the message come, its dead letter is settled. False
   * when it is not an ended execution of this tenant, or when the message is a signal that was seen before.
   */
  executionReopen(params: {
    tenantId: string;
    executionId: string;
    message: NewMessage | null;
    /** Further signals that come with it, or not at all. */
    more?: NewMessage[];
  }): Promise<{ reopened: boolean }>;
}

/** Its fields are described in execution-fields.ts. */
export interface NewExecution extends Fields<typeof EXECUTION_FIELDS> {
  /** Start it only if `version` is the current one of an Active, enabled workflow. */
  ifCurrent?: boolean;
  /** Another engine runs it: no runner ever claims it. Absent or null: it runs natively. */
  driver?: OutsideDriver | null | undefined;
  /** A rate limit lets it start later. Mail does not wake it before, but a cancel does. */
  hold?: StartHold | undefined;
}

export interface StartHold {
  readonly waitMs: number;
  /** `DELAY`: its planned start is shown; `QUEUE`: it is Pending, and nothing more is promised. */
  readonly policy: 'QUEUE' | 'DELAY';
}

export interface WorkflowKey {
  tenantId: string;
  workflowId: string;
}

export interface StartOutcome {
  executionId: string;
  /** The execution that already has this requestId; `workflowId` tells whether it is the same request (WFENG001 if not). */
  existing: { executionId: string; workflowId: string } | null;
  /** Not started: `ifCurrent` did not hold. */
  stale?: true;
}

export interface OwnedStart {
  outcomes: StartOutcome[];
  owned: string[];
  at: Timestamp;
}

export interface QueueLook {
  woken: number;
  nextDueAt: Timestamp | null;
  /** Some were ready for `readyForMs` before this look. */
  hasReady: boolean;
  /** Somebody has mail, so queueWakeMail may find something to do. */
  hasMail: boolean;
}

export interface ClaimResult {
  claimed: ClaimedExecution[];
  /** Where an execution was left that is to run alone. */
  leftAlone: { tenantId: string; priority: number } | null;
  at: Timestamp;
}

export interface ClaimedExecution {
  executionId: string;
  epoch: number;
  tenantId: string;
  workflowId: string;
  version: number;
  priority: number;
  crashes: number;
  readyAt: Timestamp;
  /** All there is to load, when it was never claimed before and has no mail. */
  execution: LoadedExecution | null;
}

export interface LoadedExecution extends NewExecution {
  checkpoint: { seq: number; state: JsonText } | null;
  journal: JournalRow[];
  /** Data of finished attempts: what the facts of the journal leave out. */
  attempts: { nodeId: string; attempt: number; outputs: JsonText | null }[];
  inbox: InboxMessage[];
}

export interface JournalRow {
  seq: number;
  at: Timestamp;
  facts: JsonText;
}

export interface CommitBatch {
  slotId: string;
  events: { executionId: string; seq: number; at: Timestamp; facts: JsonText; inputs: JsonText | null }[];
  attempts: AttemptRow[];
  outcomes: OutcomeRow[];
  /** Executions whose queue row goes: they ended. */
  ended: string[];
  children: NewExecution[];
  /** Inbox messages that these transitions used up. */
  consumed: string[];
  sent: NewMessage[];
  /** A resource that another execution holds is left as it is: see resourceLinkCheck. */
  links: ResourceLinkRow[];
  logs: ActionLogRow[];
  /** Executions of this runner that have ended an attempt after a crash: their count starts again at 0. */
  crashResets?: string[];
  /** Executions of this runner that are Paused from here on, or no longer. */
  paused?: string[];
  resumed?: string[];
}

export interface AttemptRow {
  executionId: string;
  nodeId: string;
  attempt: number;
  actionType: string;
  status: 'Succeeded' | 'Failed' | 'RetriableFailure' | 'Cancelled' | 'TimedOut';
  startedSeq: number;
  outputs: JsonText | null;
  error: JsonText | null;
  startedAt: Timestamp;
  endedAt: Timestamp;
  /** For a free place, before it ran; null: less than a millisecond, or not known. */
  waitedMs: number | null;
}

export interface OutcomeRow {
  executionId: string;
  tenantId: string;
  status: string;
  outputs: JsonText | null;
  error: JsonText | null;
  contextSnapshot: JsonText | null;
  startedAt: Timestamp;
  endedAt: Timestamp;
}

export interface ResourceLinkRow {
  tenantId: string;
  executionId: string;
  nodeId: string;
  attempt: number;
  system: string;
  resourceType: string;
  resourceId: string;
  url: string | null;
}

interface ResourceLinkConflict {
  system: string;
  resourceType: string;
  resourceId: string;
  /** Who holds it. */
  executionId: string;
}

export interface ActionLogRow {
  executionId: string;
  nodeId: string;
  attempt: number;
  at: Timestamp;
  level: string;
  message: string;
  data: JsonText | null;
}

/** The claim that is meant (I5): a statement that arrives late finds a newer epoch and does nothing. null = whichever. */
export interface OwnedExecution {
  executionId: string;
  epoch: number | null;
}

/** The things that a parked execution waits for. */
export const PARKED_FOR = {
  ...{ paused: 1, retry: 2, callback: 4, child: 8, sleep: 16, undo: 32, worker: 64 },
  /** Before its first claim: a rate limit has no room yet. */
  ...{ delayed: 128, queued: 256 },
} as const;

export interface ParkItem extends OwnedExecution {
  dueAt: Timestamp | null;
  waits: number;
  paused: boolean;
  /** Bits of PARKED_FOR: what it waits for. */
  parkedFor: number;
  checkpoint: { seq: number; deciderVersion: number; state: JsonText } | null;
}

export interface QueueStore {
  /** Parked rows that are due become ready. */
  queueWake(params: { limit: number; readyForMs?: number }): Promise<QueueLook>;
  /** Parked rows with mail become ready: the correctness path behind every hint (I10, I11). */
  queueWakeMail(params: { limit: number }): Promise<number>;
  /** Which (tenant, priority) have ready rows, and how long the oldest of each has waited. In order, those behind `after`. */
  queueLanes(params: { limit: number; after?: Pick<Lane, 'tenantId' | 'priority'> | null }): Promise<Lane[]>;
  /** I12: live executions without a wake-up. Must be empty. */
  queueAudit(): Promise<{ executionId: string; problem: string }[]>;
}

/** Above all priorities: executions that wait to be cancelled, because they need no place. */
export const CANCEL_LANE = 10;

export interface Lane {
  tenantId: string;
  priority: number;
  oldestReadyAt: Timestamp;
}

export interface InboxStore {
  /** The door: wakes the target if it is parked; a cancel takes it out of the backlog, to CANCEL_LANE. `owner` is a hint whom to tell; live = false: no such live execution. */
  inboxSend(params: {
    message: NewMessage;
    tenantId: string;
  }): Promise<{ live: boolean; fresh: boolean; owner: string | null; isExternal: boolean }>;
  /** Mail of executions that are resident: hints make it fast, this poll makes it correct. */
  inboxRead(params: { executionIds: string[] }): Promise<(InboxMessage & { executionId: string })[]>;
  /** Whether a signal was accepted once, whatever became of it: also one that came just as its execution ended. */
  signalKnown(params: { tenantId: string; executionId: string; key: string }): Promise<boolean>;
}

export interface NewMessage {
  id: string;
  executionId: string;
  kind: 'webhook' | 'event' | 'signal' | 'cancel' | 'child' | 'attemptResult';
  /** Dedupe key within (execution, kind). */
  key: string;
  body: JsonText;
}

export interface InboxMessage {
  id: string;
  kind: NewMessage['kind'];
  key: string;
  body: JsonText;
}

export interface WorkflowStore {
  /** Stores the definition as the workflow's active version; the same checksum as the current one is a no-op. */
  workflowPublish(params: NewDefinition): Promise<{ version: number; created: boolean }>;
  workflowGet(params: { tenantId: string; workflowId: string }): Promise<WorkflowRow | null>;
  /** Which driver this version asks for; null: none, or there is no such version. */
  definitionDriver(params: { tenantId: string; workflowId: string; version: number }): Promise<string | null>;
  definitionGet(params: { tenantId: string; workflowId: string; version: number }): Promise<DefinitionRow | null>;
  /** Whether the workflow is archived; null: there is no such workflow. Questions of one moment share a statement. */
  workflowArchived(params: { tenantId: string; workflowId: string }): Promise<boolean | null>;
  /**
   * What a child of this workflow would run; null: there is no such workflow. `version` null: the current one. Questions of one moment
   * share a statement.
   */
  childTarget(params: { tenantId: string; workflowId: string; version: number | null }): Promise<ChildTarget | null>;
  /** Registered actions and connectors, upserted at start; what an operator disabled stays disabled. */
  catalogUpsert(params: { connectors: ConnectorRow[]; actions: ActionRow[] }): Promise<void>;
}

export interface WorkflowRow {
  workflowId: string;
  displayName: string;
  format: string;
  status: 'Draft' | 'Active' | 'Archived';
  isEnabled: boolean;
  currentVersion: number | null;
}

export interface ChildTarget extends Pick<WorkflowRow, 'status' | 'isEnabled'> {
  /** null: nothing is published. */
  version: number | null;
  /** null: there is no such version. */
  format: string | null;
}

export interface DefinitionRow {
  format: string;
  definition: JsonText;
  checksum: string;
  status: 'Draft' | 'Active' | 'Archived';
}
