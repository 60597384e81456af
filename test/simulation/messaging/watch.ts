// Watches every statement as it happens in the database, and reports what must never be: a transition that a consumer is not told
// of, an early timeout, an acknowledgement that closes the delivery of another consumer, a processed message that is sent again.

import type { LifecycleBatch } from '../../../src/store/lifecycle-port.ts';
import type { Violation } from '../audit.ts';
import type { Statements, Tables } from '../database/tables.ts';
import { TIMEOUT_MS } from './machine.ts';

export class Watch {
  readonly violations: Violation[] = [];
  private readonly tables: Tables;
  private readonly now: () => number;
  private readonly processed = new Set<string>();

  constructor(tables: Tables, now: () => number) {
    this.tables = tables;
    this.now = now;
  }

  violate(invariant: string, what: string): void {
    this.violations.push({ invariant, what, at: this.now() });
  }

  statement(method: string, params: unknown, run: () => unknown): unknown {
    if (method === 'lifecycleApply') return this.apply(params as LifecycleBatch, run as () => Applied);
    if (method === 'deliveryAck') return this.ack(params as AckParams, run);
    if (method === 'deliveryClaim') return this.claim(run as () => Claimed);
    return run();
  }

  private apply({ moves, messages }: LifecycleBatch, run: () => Applied): Applied {
    const { instances, consumers, deliveries, timelines } = this.tables.messaging;
    const before = new Map(moves.map(({ instanceId }) => [instanceId, { ...instances.get(instanceId) }]));
    const result = run();
    for (const move of moves.filter(({ instanceId }) => result.applied.includes(instanceId))) {
      const { instanceId, externalRef, event, revision, cause } = move;
      const what = `${externalRef} ${event} (revision ${revision})`;
      if ((before.get(instanceId)?.revision ?? 0) !== revision)
        this.violate('CAS', `${what} was decided at another revision`);
      const repeats = timelines.get(instanceId)!.filter(({ requestId }) => requestId === move.requestId);
      if (repeats.length > 1) this.violate('once', `${what}: request ${move.requestId} was applied twice`);
      if (cause.includes('"timeout"')) this.checkTimeout(instanceId, what);
      const told = messages.find(({ subjectId, kind }) => subjectId === instanceId && kind === 'transition');
      for (const { consumerId, code } of consumers.values()) {
        if (told !== undefined && deliveries.has(`${told.ackGuid} ${consumerId}`)) continue;
        this.violate('I1', `${what} was not told to ${code}`);
      }
    }
    return result;
  }

  /** Never before its time, by the clock of the database (I8). */
  private checkTimeout(instanceId: string, what: string): void {
    const moves = this.tables.messaging.timelines.get(instanceId)!.filter(({ kind }) => kind === 'transition');
    const [last, current] = moves.slice(-2);
    const due = last!.at + TIMEOUT_MS;
    if (current!.at < due || this.tables.clock() < due) this.violate('I8', `${what} is early`);
  }

  private ack({ acks }: AckParams, run: () => unknown): unknown {
    const { deliveries } = this.tables.messaging;
    const named = new Set(acks.map(({ ackGuid, consumerId }) => `${ackGuid} ${consumerId}`));
    const others = [...deliveries].filter(([key]) => !named.has(key)).map(([key, { stage }]) => [key, stage] as const);
    const result = run();
    for (const [key, stage] of others) {
      if (deliveries.get(key)!.stage !== stage)
        this.violate('I19', `delivery ${key} was changed by another's acknowledgement`);
    }
    for (const key of named) if (deliveries.get(key)?.stage === 'Processed') this.processed.add(key);
    return result;
  }

  private claim(run: () => Claimed): Claimed {
    const result = run();
    for (const { ackGuid, consumerId } of result.claimed) {
      if (this.processed.has(`${ackGuid} ${consumerId}`))
        this.violate('I19', `${ackGuid} is sent to ${consumerId} although it was processed`);
    }
    return result;
  }
}

type Applied = ReturnType<Statements['lifecycleApply']>;
type Claimed = ReturnType<Statements['deliveryClaim']>;
type AckParams = Parameters<Statements['deliveryAck']>[0];
