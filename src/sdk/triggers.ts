// Triggers and events, which start executions.

import type {
  BackfillAnswerJson,
  BackfillRequest,
  EventAnswerJson,
  EventRequest,
  FiringAnswerJson,
  FiringJson,
  Page,
  SecretRotateRequest,
  TriggerCreateRequest,
  TriggerJson,
  TriggerUpdateRequest,
  WebhookTestAnswerJson,
} from '../protocol/answer.ts';
import type { QueryOf } from '../protocol/page.ts';
import type { triggerListQuery } from '../protocol/trigger.ts';
import { part, type Transport } from './transport.ts';
import { signWebhook } from './webhook.ts';
import type { PageQuery } from './workflows.ts';

export interface TriggerListQuery extends QueryOf<typeof triggerListQuery> {}

const BASE = '/api/v1/triggers';

export class TriggersApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  create(request: TriggerCreateRequest): Promise<TriggerJson> {
    return this.transport.ask('POST', BASE, { body: request });
  }

  get(id: string): Promise<TriggerJson> {
    return this.transport.get(of(id));
  }

  list(query: TriggerListQuery = {}): Promise<Page<TriggerJson>> {
    return this.transport.get(BASE, { ...query });
  }

  /** Omitted fields stay as they are. */
  update(id: string, request: TriggerUpdateRequest): Promise<TriggerJson> {
    return this.transport.ask('PUT', of(id), { body: request });
  }

  async delete(id: string): Promise<void> {
    await this.transport.ask('DELETE', of(id));
  }

  /** Only this answer contains a generated secret. */
  rotateSecret(id: string, request: SecretRotateRequest = {}): Promise<TriggerJson> {
    return this.transport.ask('POST', `${of(id)}/rotate-secret`, { body: request });
  }

  /** Fires a trigger by hand, enabled or not, with any JSON as payload. */
  fire(
    id: string,
    payload: unknown = {},
    { idempotencyKey = crypto.randomUUID() }: { readonly idempotencyKey?: string } = {},
  ): Promise<FiringAnswerJson> {
    const headers = { 'idempotency-key': idempotencyKey };
    return this.transport.ask('POST', `${of(id)}/fire`, { body: payload, headers, repeatable: true });
  }

  /** Sends the webhook a sample that the server signs with the trigger's secret. */
  test(id: string, payload: unknown = { test: true }): Promise<WebhookTestAnswerJson> {
    return this.transport.ask('POST', `${of(id)}/test`, { body: payload });
  }

  /** Sends a webhook: signed when there is a secret. The same id starts nothing twice. */
  async send(
    id: string,
    payload: unknown,
    { secret, webhookId = crypto.randomUUID() }: { readonly secret?: string; readonly webhookId?: string } = {},
  ): Promise<FiringAnswerJson> {
    const headers =
      secret === undefined
        ? { 'webhook-id': webhookId }
        : await signWebhook(JSON.stringify(payload), secret, { id: webhookId });
    return this.transport.ask('POST', of(id), { body: payload, headers, repeatable: true });
  }

  /** Starts the slots of a schedule between two times. Slots that were started before are skipped. */
  backfill(id: string, range: BackfillRequest): Promise<BackfillAnswerJson> {
    return this.transport.ask('POST', `${of(id)}/backfill`, { body: range, repeatable: true });
  }

  firings(id: string, query: PageQuery = {}): Promise<Page<FiringJson>> {
    return this.transport.get(`${of(id)}/firings`, { ...query });
  }

  /** Fires every enabled trigger for events of this type. The same id starts nothing twice. */
  publishEvent(event: EventRequest): Promise<EventAnswerJson> {
    const body = { id: crypto.randomUUID() as string, ...event };
    return this.transport.ask('POST', '/api/v1/events', { body, repeatable: true });
  }
}

const of = (id: string): string => `${BASE}/${part(id)}`;
