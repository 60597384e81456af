// Data for the contract suite: complete rows with sensible values, of which a test names the relevant ones.

import { randomBytes } from 'node:crypto';
import { uuidV7 } from '../../core/id/id.ts';
import type {
  AttemptRow,
  CommitBatch,
  NewExecution,
  NewMessage,
  OutcomeRow,
  OwnedExecution,
  ParkItem,
  ResourceLinkRow,
  Store,
} from '../port.ts';

export const TENANT = 'acme';
export const BEGINNING = Date.parse('2026-03-01T10:00:00.123Z');

/** JSON that text or a careless driver cannot hold: order, spaces, U+0000, half a surrogate pair, quotes, big numbers. */
export const AWKWARD_JSON =
  '{"b":1, "a" : [1.0,1e400,-0],  "":"\\u0000", "lone":"\\ud800", "quote":"\\"\\\\{},NULL\'", "text":"žluťoučký 🐴\u2028","1":2}';

/** Ids begin with the time, as the engine's do: retention relies on that. */
export const newId = (): string => uuidV7(Date.now(), randomBytes(16));

export function newExecution(overrides: Partial<NewExecution> = {}): NewExecution {
  return {
    executionId: newId(),
    tenantId: TENANT,
    workflowId: 'onboard-project',
    version: 3,
    format: 'graph',
    priority: 5,
    behaviour: 1,
    trigger: '{"a":1}',
    spec: null,
    principal: '{"userId":"u1"}',
    correlationId: 'c1',
    requestId: null,
    parentId: null,
    parentNode: null,
    depth: 0,
    projectId: 'default',
    environmentId: 'default',
    createdAt: BEGINNING,
    ...overrides,
  };
}

export function newBatch(slotId: string, overrides: Partial<CommitBatch> = {}): CommitBatch {
  return {
    slotId,
    events: [],
    attempts: [],
    outcomes: [],
    ended: [],
    children: [],
    consumed: [],
    sent: [],
    links: [],
    logs: [],
    ...overrides,
  };
}

export function newEvent(executionId: string, seq: number, facts = '[{"type":"ExecutionStarted","deadline":null}]') {
  return { executionId, seq, at: BEGINNING + seq, facts, inputs: null as string | null };
}

export function newAttempt(executionId: string, overrides: Partial<AttemptRow> = {}): AttemptRow {
  return {
    executionId,
    nodeId: 'greet',
    attempt: 1,
    actionType: 'core.echo',
    status: 'Succeeded',
    startedSeq: 0,
    waitedMs: null,
    outputs: '{"x":1}',
    error: null,
    startedAt: BEGINNING,
    endedAt: BEGINNING + 5,
    ...overrides,
  };
}

export function newOutcome(executionId: string, overrides: Partial<OutcomeRow> = {}): OutcomeRow {
  return {
    executionId,
    tenantId: TENANT,
    status: 'Succeeded',
    outputs: '{"done":true}',
    error: null,
    contextSnapshot: '{"nodes":[]}',
    startedAt: BEGINNING,
    endedAt: BEGINNING + 10,
    ...overrides,
  };
}

export function newMessage(executionId: string, overrides: Partial<NewMessage> = {}): NewMessage {
  return { id: newId(), executionId, kind: 'webhook', key: 'k1', body: '{"hello":"there"}', ...overrides };
}

export function newLink(executionId: string, overrides: Partial<ResourceLinkRow> = {}): ResourceLinkRow {
  return {
    tenantId: TENANT,
    executionId,
    nodeId: 'greet',
    attempt: 1,
    system: 'confluence',
    resourceType: 'page',
    resourceId: '42',
    url: 'https://wiki.example/42',
    ...overrides,
  };
}

export const anyEpoch = (ids: readonly string[]): OwnedExecution[] =>
  ids.map((executionId) => ({ executionId, epoch: null }));

/** The ids of the executions that a runner owns. */
export const ownedIds = async (store: Store, runnerId: string): Promise<string[]> =>
  (await store.executionListOwned({ runnerId })).map(({ executionId }) => executionId);

export function newParkItem(executionId: string, overrides: Partial<ParkItem> = {}): ParkItem {
  return {
    executionId,
    epoch: null,
    dueAt: null,
    waits: 1,
    paused: false,
    parkedFor: 4,
    checkpoint: null,
    ...overrides,
  };
}

export interface TestRunner {
  readonly runnerId: string;
  /** Claims and parks. */
  readonly slot: string;
  /** Commits. */
  readonly commitSlot: string;
}

export async function newRunner(store: Store, leaseMs = 60_000): Promise<TestRunner> {
  const { runnerId, slotIds } = await store.runnerRegister({ name: 'runner', slots: 2, leaseMs });
  return { runnerId, slot: slotIds[0]!, commitSlot: slotIds[1]! };
}

export async function start(store: Store, ...items: Partial<NewExecution>[]): Promise<string[]> {
  const started = await store.executionStart({ items: items.map(newExecution) });
  return started.map(({ executionId }) => executionId);
}

export function claim(store: Store, slotId: string, overrides: Partial<Parameters<Store['executionClaim']>[0]> = {}) {
  const lanes = [{ tenantId: TENANT, priority: 5, mark: 0 }];
  return store.executionClaim({ slotId, lanes, perLane: 100, limit: 100, behaviour: 1, ...overrides });
}

export async function claimedIds(store: Store, slotId: string): Promise<string[]> {
  return (await claim(store, slotId)).claimed.map(({ executionId }) => executionId);
}

/** A runner that owns this many fresh executions. */
export async function owning(store: Store, count: number): Promise<{ runner: TestRunner; ids: string[] }> {
  const runner = await newRunner(store);
  const ids = await start(store, ...Array.from({ length: count }, () => ({})));
  await claim(store, runner.slot);
  return { runner, ids };
}

export async function statusOf(store: Store, executionId: string): Promise<string | undefined> {
  return (await store.executionGet({ tenantId: TENANT, executionId }))?.status;
}

export async function journalOf(store: Store, executionId: string): Promise<number[]> {
  return (await store.executionJournal({ executionId, afterSeq: -1, limit: 1000 })).map(({ seq }) => seq);
}

/** Ends an execution that the runner owns. */
export async function end(store: Store, runner: TestRunner, executionId: string, overrides: Partial<OutcomeRow> = {}) {
  const outcomes = [newOutcome(executionId, overrides)];
  await store.executionCommit(newBatch(runner.commitSlot, { outcomes, ended: [executionId] }));
}

/** Publishes the whole outbox to nobody, so that ended executions may be removed. */
export async function publishAll(store: Store): Promise<void> {
  await store.outboxLead({ leaderId: 'test', leaseMs: 60_000 });
  const batches = await store.outboxRead({ limit: 1000, withFacts: false });
  const batchIds = batches.map(({ batchId }) => batchId);
  await store.outboxPublish({ leaderId: 'test', batchIds, messages: [], deliveries: [] });
}
