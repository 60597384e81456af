// The installation itself: health, metrics, and its own description.

import type { EngineHealthDetailedJson, EngineHealthJson, Page, ReadinessJson } from '../protocol/answer.ts';
import type { FoundJson } from '../protocol/find.ts';
import type { LiveEvent, LiveNowJson } from '../protocol/live.ts';
import type { SessionJson } from '../protocol/session.ts';
import { apiErrorOf } from './api-error.ts';
import { serverSentEvents } from './event-source.ts';
import { part, type Transport } from './transport.ts';

/** An unhealthy server still answers, with 503. */
const UNWELL = { repeatable: false, answers: [503] } as const;

export class SystemApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** The caller: tenant, subject, scopes and roles of the token or key. */
  session(): Promise<SessionJson> {
    return this.transport.get('/api/v1/session');
  }

  /** Finds the resource with exactly this id, requestId or reference. */
  find(text: string): Promise<Page<FoundJson>> {
    return this.transport.get('/api/v1/find', { text });
  }

  /** Live executions, health and dead letters. */
  now(): Promise<LiveNowJson> {
    return this.transport.get('/api/v1/live');
  }

  /** The same as it changes, with the watched executions; ends with the connection. */
  async *watch(
    ids: readonly string[] = [],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const headers = { accept: 'text/event-stream' };
    const query = { watch: ids.length === 0 ? undefined : ids };
    const answer = await this.transport.send('GET', '/api/v1/live', { query, headers, repeatable: true, signal });
    if (answer.body === null) throw await apiErrorOf(answer);
    for await (const { event, data } of serverSentEvents(answer.body)) {
      if (event === 'end') return;
      yield { event, data: JSON.parse(data) } as LiveEvent;
    }
  }

  live(): Promise<{ status: 'ok' }> {
    return this.transport.ask('GET', '/health/live');
  }

  ready(): Promise<ReadinessJson> {
    return this.transport.ask('GET', '/health/ready', UNWELL);
  }

  health(): Promise<EngineHealthJson> {
    return this.transport.ask('GET', '/engine/health', UNWELL);
  }

  detailedHealth(): Promise<EngineHealthDetailedJson> {
    return this.transport.ask('GET', '/engine/health/detailed', UNWELL);
  }

  /** In Prometheus's text format. */
  async metrics(): Promise<string> {
    return (await this.transport.send('GET', '/metrics', { repeatable: true })).text();
  }

  openApi(): Promise<Record<string, unknown>> {
    return this.transport.get('/api/v1/openapi.json');
  }

  /** The paths of the JSON Schemas of the definition formats. */
  schemas(): Promise<Page<string>> {
    return this.transport.get('/schemas');
  }

  schema(name: string): Promise<Record<string, unknown>> {
    return this.transport.get(`/schemas/${part(name)}`);
  }
}
