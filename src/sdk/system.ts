// The installation itself: how it is, and what it says about itself.

import type { EngineHealthDetailedJson, EngineHealthJson, Page, ReadinessJson } from '../protocol/answer.ts';
import { part, type Transport } from './transport.ts';

/** Not well is an answer too. */
const UNWELL = { repeatable: false, answers: [503] } as const;

export class SystemApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
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

  /** As Prometheus reads them. */
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
