// Tells an event bus once more what happened to one run: after a bus has lost events, or a database was restored to a time before they were
// sent. The journal is the truth, so every event is made from it again, under its own idempotencyKey: receivers that have an event already
// tell it by that. Only buses are told. Consumers that act on events have their replay, and triggers would start their workflows again.

import type { Plan } from '../core/plan/plan.ts';
import { consumerKind } from '../protocol/consumer-kind.ts';
import type { ExecutionEventType } from '../protocol/event.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { DeliveryStore, NewDelivery, NewMessageRow } from '../store/delivery-port.ts';
import { unwalled } from '../store/tenant-scope.ts';
import type { ConsumerBook } from './consumer-book.ts';
import { envelopesOf } from './execution-envelope.ts';
import { fan } from './publisher.ts';

export interface ReconciliationDeps {
  readonly store: Pick<DeliveryStore, 'outboxAgain' | 'outboxTell'> & Pick<AuditStore, 'audited'>;
  readonly book: ConsumerBook;
  readonly planOf: (row: { tenantId: string; workflowId: string; version: number }) => Promise<Plan | null>;
  readonly newId: () => string;
  readonly wake: (consumerIds: Iterable<string>) => void;
}

export interface Reconciled {
  /** Codes of the buses that are told. */
  readonly buses: readonly string[];
  readonly events: number;
}

export class Reconciliation {
  private readonly deps: ReconciliationDeps;

  constructor(deps: ReconciliationDeps) {
    this.deps = deps;
  }

  /** What the buses of the tenant should have of this execution is sent to them again. */
  async run(tenantId: string, executionId: string, by: Actor = SYSTEM): Promise<Reconciled> {
    const { store, book, planOf, newId, wake } = this.deps;
    await book.refresh();
    const rows = await store.outboxAgain({ tenantId, executionId });
    const told = { messages: [] as NewMessageRow[], deliveries: [] as NewDelivery[] };
    const plan = rows[0] === undefined ? null : await planOf(rows[0]);
    for (const row of rows) {
      const { environmentId: env, workflowId: workflow } = row;
      const buses = (type: ExecutionEventType) =>
        book.subscribers(tenantId, { kind: 'execution', env, workflow, type }).filter((id) => this.isBus(id));
      const isWanted = (type: ExecutionEventType) => buses(type).length > 0;
      for (const envelope of envelopesOf(row, plan, newId, isWanted)) {
        fan(row, envelope, buses(envelope.eventType), told);
      }
    }
    const consumerIds = new Set(told.deliveries.map(({ consumerId }) => consumerId));
    const result = { buses: [...consumerIds].map((id) => book.byId(id)!.code), events: told.messages.length };
    const deed = () => ({ action: 'execution.reconcile', target: `execution/${executionId}`, details: { ...result } });
    // The policy of a delivery looks for its message, which the same statement writes and cannot see.
    await unwalled(() => store.audited({ tenantId, by, work: (within) => within.outboxTell(told), deed }));
    wake(consumerIds);
    return result;
  }

  private isBus(consumerId: string): boolean {
    const consumer = this.deps.book.byId(consumerId);
    return consumer !== null && consumerKind(consumer.kind).isBus === true;
  }
}
