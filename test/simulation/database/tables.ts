// The tables of the simulated database, and the clock that stamps their rows. Plain maps: a statement checks everything it could
// fail on before it changes anything, so there is never anything to roll back.

import type { DeliveryStore } from '../../../src/store/delivery-port.ts';
import type { EventWaitRow, EventWaitStore } from '../../../src/store/event-wait-port.ts';
import type { ExternalStore, OutsideDriver } from '../../../src/store/external-port.ts';
import type { LifecycleStore } from '../../../src/store/lifecycle-port.ts';
import type { DeadLetter, OperationStore } from '../../../src/store/operation-port.ts';
import type {
  ActionLogRow,
  AttemptRow,
  CommitBatch,
  ExecutionStore,
  InboxStore,
  NewExecution,
  NewMessage,
  OutcomeRow,
  QueueStore,
  ResourceLinkRow,
  Store,
  WorkflowRow,
} from '../../../src/store/port.ts';
import type { RunnerInfo, RunnerStore } from '../../../src/store/runner-port.ts';
import { createMessagingTables, type MessagingTables } from './messaging-tables.ts';

/** The part of the port that the engine needs and the contract suite asks for; the rest serves people. */
type Simulated =
  | keyof RunnerStore
  | keyof ExecutionStore
  | keyof QueueStore
  | keyof InboxStore
  | keyof EventWaitStore
  | keyof OperationStore
  | keyof ExternalStore
  | keyof LifecycleStore
  | keyof DeliveryStore
  | 'workflowPublish'
  | 'workflowGet'
  | 'definitionGet'
  | 'definitionDriver'
  | 'workflowArchived'
  | 'childTarget'
  | 'executionGet'
  | 'executionKnown'
  | 'executionEnded'
  | 'executionHeads'
  | 'executionTenant'
  | 'callbackTarget'
  | 'executionAttempts'
  | 'attemptWaits'
  | 'executionJournal'
  | 'executionChildren'
  | 'executionLogs'
  | 'resourceFind';

/** The port, with each method as one atomic statement. */
export type Statements = {
  [Method in Simulated]: (...params: Parameters<Store[Method]>) => Awaited<ReturnType<Store[Method]>>;
};

export const READY = 0;
export const OWNED = 1;
export const PARKED = 2;
export const EXTERNAL = 3;

export interface QueueRow {
  readonly executionId: string;
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
  priority: number;
  readonly behaviour: number;
  state: number;
  readyAt: number;
  dueAt: number | null;
  runnerId: string | null;
  epoch: number;
  crashes: number;
  waits: number;
  paused: boolean;
}

export interface Slot {
  readonly id: string;
  readonly runnerId: string;
  state: 'live' | 'stopped' | 'dead';
}

export type EventRow = CommitBatch['events'][number];

export interface Tables {
  /** clock_timestamp(). */
  readonly clock: () => number;
  readonly runners: Map<string, Omit<RunnerInfo, 'runnerId' | 'state' | 'leaseExpiresAt' | 'hasLease' | 'owned'>>;
  readonly slots: Map<string, Slot>;
  readonly leases: Map<string, number>;
  readonly executions: Map<string, NewExecution & { readonly behaviour: number }>;
  /** By tenant and request id. */
  readonly requests: Map<string, string>;
  readonly outcomes: Map<string, OutcomeRow>;
  readonly queue: Map<string, QueueRow>;
  /** By execution, in the order of their seq. */
  readonly events: Map<string, EventRow[]>;
  /** By execution, then by `attempt:node`. */
  readonly attempts: Map<string, Map<string, AttemptRow>>;
  readonly checkpoints: Map<string, { seq: number; deciderVersion: number; state: string }>;
  /** By execution, in the order of arrival. */
  readonly inbox: Map<string, (NewMessage & { readonly at: number })[]>;
  readonly signals: Map<string, Set<string>>;
  readonly eventWaits: Map<string, EventWaitRow>;
  readonly links: Map<string, ResourceLinkRow>;
  readonly logs: Map<string, ActionLogRow[]>;
  readonly deadLetters: Map<string, DeadLetter & { readonly tenantId: string }>;
  readonly workflows: Map<string, WorkflowRow>;
  /** By tenant and workflow: version n is at n − 1. */
  readonly definitions: Map<string, { format: string; definition: string; checksum: string }[]>;
  readonly secrets: Map<string, Uint8Array>;
  /** The outbox, in the order of its ids. */
  readonly batches: Map<string, CommittedBatch>;
  readonly externalRuns: Map<string, ExternalRunRow>;
  readonly messaging: MessagingTables;
  nextId: number;
  /** How many statements have given an epoch. */
  epochsGiven: number;
}

export interface ExternalRunRow {
  readonly driver: OutsideDriver;
  ref: string | null;
  refEpoch: number | null;
  lookAt: number | null;
  failures: number;
  lastError: string | null;
}

export interface CommittedBatch {
  readonly at: number;
  readonly rows: readonly { readonly executionId: string; readonly seq: number }[];
}

export function createTables(clock: () => number): Tables {
  return {
    clock,
    runners: new Map(),
    slots: new Map(),
    leases: new Map(),
    executions: new Map(),
    requests: new Map(),
    outcomes: new Map(),
    queue: new Map(),
    events: new Map(),
    attempts: new Map(),
    checkpoints: new Map(),
    inbox: new Map(),
    signals: new Map(),
    eventWaits: new Map(),
    links: new Map(),
    logs: new Map(),
    deadLetters: new Map(),
    workflows: new Map(),
    definitions: new Map(),
    secrets: new Map(),
    batches: new Map(),
    externalRuns: new Map(),
    messaging: createMessagingTables(),
    nextId: 1,
    epochsGiven: 0,
  };
}

/** Times leave the database in whole milliseconds; fractions are cut off. */
export function readClock(tables: Tables): number {
  return Math.floor(tables.clock());
}

/** The runner behind a slot, if its fence is alive. Every write of a runner asks this first (I4). */
export function liveRunner(tables: Tables, slotId: string): string | null {
  const slot = tables.slots.get(slotId);
  return slot?.state === 'live' ? slot.runnerId : null;
}

export function makeReady(tables: Tables, row: QueueRow): void {
  row.state = READY;
  row.readyAt = tables.clock();
  row.runnerId = null;
}

export function wake(tables: Tables, row: QueueRow): void {
  makeReady(tables, row);
  row.dueAt = null;
}

/** Parked before its first claim: a rate limit holds the execution back, and only a cancel wakes it early. */
export const isHeld = ({ state, epoch }: QueueRow): boolean => state === PARKED && epoch === 0;

export function addToQueue(tables: Tables, execution: NewExecution & { behaviour: number }, epoch = 0): void {
  const { executionId, tenantId, workflowId, version, priority, behaviour, hold } = execution;
  const isOutside = tables.externalRuns.has(executionId);
  tables.queue.set(executionId, {
    executionId,
    tenantId,
    workflowId,
    version,
    priority,
    behaviour,
    state: isOutside ? EXTERNAL : hold !== undefined && epoch === 0 ? PARKED : READY,
    readyAt: tables.clock(),
    dueAt: hold !== undefined && epoch === 0 ? tables.clock() + hold.waitMs : null,
    runnerId: null,
    epoch,
    crashes: 0,
    waits: 0,
    paused: false,
  });
}

/** An epoch that the execution never had: 1 is the epoch of an execution that is handed over for the first time. */
export function nextEpoch(tables: Tables): number {
  tables.epochsGiven = Math.max(tables.epochsGiven, 1) + 1;
  return tables.epochsGiven;
}

/**
 * The execution is live again, with a higher epoch than any before, although its old row is gone (I5); its dead letter is
 * settled.
 */
export function takeUpAgain(tables: Tables, executionId: string): void {
  addToQueue(tables, tables.executions.get(executionId)!, nextEpoch(tables));
  const run = tables.externalRuns.get(executionId);
  if (run !== undefined) run.lookAt = tables.clock();
  for (const [id, letter] of tables.deadLetters) if (letter.executionId === executionId) tables.deadLetters.delete(id);
}

export function mailOf(tables: Tables, executionId: string): readonly (NewMessage & { readonly at: number })[] {
  return tables.inbox.get(executionId) ?? [];
}

/** `on conflict (execution_id, kind, key) do nothing`; true = the message was inserted. */
export function putMail(tables: Tables, message: NewMessage): boolean {
  const mail = tables.inbox.get(message.executionId) ?? [];
  if (mail.some(({ kind, key }) => kind === message.kind && key === message.key)) return false;
  const { id, executionId, kind, key, body } = message;
  const at = tables.clock();
  const later = mail.findIndex((other) => other.at > at);
  mail.splice(later < 0 ? mail.length : later, 0, { id, executionId, kind, key, body, at });
  tables.inbox.set(executionId, mail);
  return true;
}

/** The batch that a commit leaves for the publisher. */
export function addBatch(tables: Tables, events: readonly EventRow[]): void {
  if (events.length === 0) return;
  const rows = events.map(({ executionId, seq }) => ({ executionId, seq }));
  tables.batches.set(String(tables.nextId++), { at: tables.clock(), rows });
}
