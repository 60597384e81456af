// Consumers: which messages each one gets, and how they are sent.

import type { Page, SecretRotateRequest } from '../protocol/answer.ts';
import type { ConsumerJson, ConsumerRegistration } from '../protocol/delivery.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

const BASE = '/api/v1/consumers';

export class ConsumersApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Creates the consumer, or changes the one with this code. Only this answer contains a generated secret. */
  register(consumer: ConsumerRegistration): Promise<ConsumerJson> {
    return this.transport.ask('POST', BASE, { body: consumer });
  }

  /** All consumers, unless the query has a limit. */
  list(query: PageQuery = {}): Promise<Page<ConsumerJson>> {
    return this.transport.get(BASE, { ...query });
  }

  get(code: string): Promise<ConsumerJson> {
    return this.transport.get(of(code));
  }

  /** Omitted fields stay as they are. */
  change(code: string, change: Partial<Omit<ConsumerRegistration, 'code'>>): Promise<ConsumerJson> {
    return this.transport.ask('PATCH', of(code), { body: change });
  }

  async remove(code: string): Promise<void> {
    await this.transport.ask('DELETE', of(code));
  }

  /** Messages to a paused consumer wait. */
  pause(code: string): Promise<ConsumerJson> {
    return this.transport.ask('POST', `${of(code)}/pause`, { repeatable: true });
  }

  resume(code: string): Promise<ConsumerJson> {
    return this.transport.ask('POST', `${of(code)}/resume`, { repeatable: true });
  }

  /** Only this answer contains a generated secret. */
  rotateSecret(code: string, request: SecretRotateRequest = {}): Promise<ConsumerJson> {
    return this.transport.ask('POST', `${of(code)}/rotate-secret`, { body: request });
  }

  /** Sends everything of this period again: same ackGuid, same bytes. */
  async replay(code: string, range: { readonly from: Date; readonly until?: Date }): Promise<number> {
    const body = { from: range.from.toISOString(), ...(range.until && { until: range.until.toISOString() }) };
    return (await this.transport.ask<{ count: number }>('POST', `${of(code)}/replay`, { body })).count;
  }
}

const of = (code: string): string => `${BASE}/${part(code)}`;
