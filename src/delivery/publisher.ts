// Publishes the events of executions. The engine writes one outbox row per commit that only names the commit. Here those rows
// become events, and a delivery for every subscriber. One process at a time publishes, in commit order. Reading again and
// deleting happen in one statement, so a leader that dies or is replaced has published all of a batch or nothing. When a bus is
// down, its events wait in its consumer's lane.
//
// Subscribers are determined after the batch was read, so a consumer or trigger that existed when the execution committed is
// always seen, whatever this process had in memory before.

import type { Timers } from '../clock/timers.ts';
import type { Plan } from '../core/plan/plan.ts';
import { EXECUTION_EVENT_TYPES, type ExecutionEventType } from '../protocol/event.ts';
import type { DeliveryStore, NewDelivery, NewMessageRow, OutboxBatch, OutboxRow } from '../store/delivery-port.ts';
import type { LifecycleStore } from '../store/lifecycle-port.ts';
import { StoreError } from '../store/store-error.ts';
import type { ConsumerBook } from './consumer-book.ts';
import type { DeliveryObserver } from './environment.ts';
import { type Envelope, envelopesOf } from './execution-envelope.ts';

export interface PublisherDeps {
  readonly store: Pick<DeliveryStore, 'outboxLead' | 'outboxRead' | 'outboxListeners' | 'outboxPublish'> &
    Pick<LifecycleStore, 'lifecycleGeneration'>;
  readonly book: ConsumerBook;
  /** null: the plan can no longer be loaded. */
  readonly planOf: (row: { tenantId: string; workflowId: string; version: number }) => Promise<Plan | null>;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly observer: DeliveryObserver;
  /** These consumers have due deliveries. */
  readonly wake: (consumerIds: Iterable<string>) => void;
  /** This process's name in the leader election. */
  readonly leaderId: string;
  readonly options: PublisherOptions;
}

export interface PublisherOptions {
  /** How long the publisher's lease lasts without a renewal. */
  readonly leaseMs: number;
}

const BATCHES = 16;
/** Rows without a subscriber are only deleted. */
const UNHEARD_BATCHES = 1_000;

/** Tenant and event type. */
type Listeners = ReadonlySet<string>;
/** The result of one batch. */
interface Portion {
  readonly batch: OutboxBatch;
  readonly messages: NewMessageRow[];
  readonly deliveries: NewDelivery[];
}

export class Publisher {
  private readonly deps: PublisherDeps;
  private isLeader = false;
  private askAgainAt = Number.NEGATIVE_INFINITY;

  constructor(deps: PublisherDeps) {
    this.deps = deps;
  }

  /** Publishes one portion of the outbox, unless another process is the leader. `more`: there is more. */
  async runOnce(): Promise<{ published: number; more: boolean }> {
    if (!(await this.leads())) return { published: 0, more: false };
    const withFacts = this.deps.book.wantsExecutions;
    const limit = withFacts ? BATCHES : UNHEARD_BATCHES;
    const batches = await this.deps.store.outboxRead({ limit, withFacts });
    if (batches.length === 0) return { published: 0, more: false };
    const listeners = await this.whoListens();
    const isWanted = this.deps.book.wantsExecutions || listeners.size > 0;
    if (!isWanted || withFacts) return this.publish(batches, listeners, batches.length === limit);
    // There is a subscriber after all. Those who listen are asked for after each reading: whoever began to wait before an event gets it.
    const read = await this.deps.store.outboxRead({ limit: BATCHES, withFacts: true });
    return this.publish(read, await this.whoListens(), batches.length > read.length);
  }

  /** Gives up the lease, so that another process need not wait for its end. */
  async stop(): Promise<void> {
    if (!this.isLeader) return;
    this.isLeader = false;
    await this.deps.store.outboxLead({ leaderId: this.deps.leaderId, leaseMs: 0 });
  }

  private async leads(): Promise<boolean> {
    const { store, timers, leaderId, options } = this.deps;
    const now = timers.monotonicMs();
    if (now < this.askAgainAt) return this.isLeader;
    this.isLeader = await store.outboxLead({ leaderId, leaseMs: options.leaseMs });
    // The leader's statements check the lease themselves, so the result is right even if this is out of date.
    this.askAgainAt = now + options.leaseMs / 3;
    return this.isLeader;
  }

  private async whoListens(): Promise<Listeners> {
    const { store, book } = this.deps;
    const [generation, listeners] = await Promise.all([
      store.lifecycleGeneration(),
      store.outboxListeners({ eventTypes: EXECUTION_EVENT_TYPES }),
    ]);
    if (generation !== book.generation) await book.refresh();
    const tenants = new Set(listeners.map(({ tenantId }) => tenantId));
    for (const tenantId of tenants) await book.ensureBuiltIn(tenantId, 'trigger');
    return new Set(listeners.map(({ tenantId, eventType }) => listenerKey(tenantId, eventType)));
  }

  private async publish(batches: readonly OutboxBatch[], listeners: Listeners, more: boolean) {
    const plans = new Map<string, Plan | null>();
    const portions: Portion[] = [];
    for (const batch of batches) {
      const portion: Portion = { batch, messages: [], deliveries: [] };
      const heard = batch.rows.filter((row) => this.isHeard(row, listeners));
      for (const row of heard) {
        const plan = await this.plan(row, plans);
        const receivers = (type: ExecutionEventType) => this.receivers(row, type, listeners);
        const isWanted = (type: ExecutionEventType) => receivers(type).length > 0;
        for (const envelope of envelopesOf(row, plan, this.deps.newId, isWanted)) {
          fan(row, envelope, receivers(envelope.eventType), portion);
        }
      }
      portions.push(portion);
    }
    await this.write(portions);
    const published = portions.reduce((sum, { messages }) => sum + messages.length, 0);
    return { published, more: more && this.isLeader };
  }

  private async plan(row: OutboxRow, known: Map<string, Plan | null>): Promise<Plan | null> {
    const { tenantId, workflowId, version } = row;
    const key = JSON.stringify([tenantId, workflowId, version]);
    const plan = known.get(key) ?? (await this.deps.planOf(row));
    known.set(key, plan);
    return plan;
  }

  /** Whether a subscriber of the tenant could want one of its events. Most rows of most tenants end here. */
  private isHeard({ tenantId }: OutboxRow, listeners: Listeners): boolean {
    if (this.deps.book.asksForExecutions(tenantId)) return true;
    return EXECUTION_EVENT_TYPES.some((type) => listeners.has(listenerKey(tenantId, type)));
  }

  private receivers(row: OutboxRow, type: ExecutionEventType, listeners: Listeners): readonly string[] {
    const { tenantId, environmentId: env, workflowId: workflow } = row;
    const { book } = this.deps;
    const trigger = listeners.has(listenerKey(tenantId, type)) ? book.builtInId(tenantId, 'trigger') : null;
    const subscribers = book.subscribers(tenantId, { kind: 'execution', env, workflow, type });
    return trigger === null ? subscribers : [...subscribers, trigger];
  }

  private async write(portions: readonly Portion[]): Promise<void> {
    const { store, leaderId, observer, wake } = this.deps;
    const batchIds = portions.map(({ batch }) => batch.batchId);
    const messages = portions.flatMap((portion) => portion.messages);
    const deliveries = portions.flatMap((portion) => portion.deliveries);
    try {
      const { applied } = await store.outboxPublish({ leaderId, batchIds, messages, deliveries });
      if (!applied) return this.deposed();
      wake(new Set(deliveries.map(({ consumerId }) => consumerId)));
    } catch (error) {
      if (!(error instanceof StoreError) || error.failure !== 'data') throw error;
      const middle = portions.length >> 1;
      for (const part of middle === 0 ? [] : [portions.slice(0, middle), portions.slice(middle)])
        await this.write(part);
      if (middle > 0) return;
      // A value that cannot be stored must not hold up everything after it: its batch is dropped, with a warning.
      const executions = portions.flatMap(({ batch }) => batch.rows.map(({ executionId }) => executionId));
      observer.warn('events of executions could not be published', { executions, error: error.message });
      await store.outboxPublish({ leaderId, batchIds, messages: [], deliveries: [] });
    }
  }

  private deposed(): void {
    this.isLeader = false;
    this.askAgainAt = this.deps.timers.monotonicMs() + this.deps.options.leaseMs / 3;
  }
}

/** A message, and a delivery for each consumer. */
export function fan(
  row: OutboxRow,
  envelope: Envelope,
  consumerIds: readonly string[],
  to: Pick<Portion, 'messages' | 'deliveries'>,
): void {
  const { eventType: event, sequence: seq, event: body } = envelope;
  const { tenantId, environmentId: env, workflowId: source, executionId: subjectId } = row;
  const ackGuid = body.eventId as string;
  const about = { ackGuid, tenantId, kind: 'execution' as const, subjectId, seq, env, source, event };
  const owed = { onSucceeded: null, onFailed: null, consumers: consumerIds.length };
  to.messages.push({ ...about, ...owed, body: JSON.stringify(body) });
  for (const consumerId of consumerIds) to.deliveries.push({ ackGuid, consumerId, subjectId, seq });
}

const listenerKey = (tenantId: string, type: string): string => `${type} ${tenantId}`;
