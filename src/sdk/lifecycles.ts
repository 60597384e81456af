// Lifecycles: import machines, trigger events, read instances and their timelines.

import type { Page } from '../protocol/answer.ts';
import type {
  ActivityJson,
  ActivityRequest,
  InstanceJson,
  InstanceRequest,
  instanceListQuery,
  LifecycleDetailJson,
  LifecycleImportJson,
  LifecycleImportRequest,
  LifecycleJson,
  LifecycleTriggerJson,
  LifecycleTriggerRequest,
  LifecycleVersionJson,
  StateCountJson,
  TimelineEntryJson,
} from '../protocol/lifecycle.ts';
import type { QueryOf } from '../protocol/page.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

const BASE = '/api/v1/lifecycles';

export interface InstanceListQuery extends QueryOf<typeof instanceListQuery> {}

export class LifecyclesApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Importing the same machine twice changes nothing. */
  import(request: LifecycleImportRequest): Promise<LifecycleImportJson> {
    return this.transport.ask('POST', BASE, { body: request, repeatable: true });
  }

  list(query: PageQuery = {}): Promise<Page<LifecycleJson>> {
    return this.transport.get(BASE, { ...query });
  }

  /** One lifecycle: its events, instances and diagrams. */
  of(env: string, name: string): LifecycleApi {
    return new LifecycleApi(this.transport, `${BASE}/${part(env)}/${part(name)}`);
  }
}

export class LifecycleApi {
  private readonly transport: Transport;
  private readonly base: string;

  constructor(transport: Transport, base: string) {
    this.transport = transport;
    this.base = base;
  }

  /** How many instances are in each state, each counted up to 10,000. */
  counts(): Promise<Page<StateCountJson>> {
    return this.transport.get(`${this.base}/counts`);
  }

  /** Newest first. */
  versions(query: PageQuery = {}): Promise<Page<LifecycleVersionJson>> {
    return this.transport.get(`${this.base}/versions`, { ...query });
  }

  /** As it was imported; the newest version by default. */
  get(query: { readonly version?: number } = {}): Promise<LifecycleDetailJson> {
    return this.transport.get(this.base, query);
  }

  /** A requestId is applied once. Use an id that your own repetition would use again. */
  trigger(request: LifecycleTriggerRequest): Promise<LifecycleTriggerJson> {
    return this.transport.ask('POST', `${this.base}/trigger`, { body: request, repeatable: true });
  }

  instances(query: InstanceListQuery = {}): Promise<Page<InstanceJson>> {
    return this.transport.get(`${this.base}/instances`, { ...query });
  }

  /** Creates an instance in its initial state, without an event. An existing instance is returned as it is. */
  create(request: InstanceRequest): Promise<InstanceJson> {
    return this.transport.ask('POST', `${this.base}/instances`, { body: request, repeatable: true });
  }

  instance(externalRef: string): Promise<InstanceJson> {
    return this.transport.get(this.instancePath(externalRef));
  }

  timeline(externalRef: string, query: PageQuery = {}): Promise<Page<TimelineEntryJson>> {
    return this.transport.get(`${this.instancePath(externalRef)}/timeline`, { ...query });
  }

  /** Shown in the timeline; no decision depends on it. */
  addActivity(externalRef: string, request: ActivityRequest): Promise<ActivityJson> {
    return this.transport.ask('POST', `${this.instancePath(externalRef)}/activities`, { body: request });
  }

  /** As SVG or Mermaid, optionally with an instance's state highlighted. */
  async diagram(format: 'svg' | 'mmd', query: { readonly externalRef?: string } = {}): Promise<string> {
    const answer = await this.transport.send('GET', `${this.base}/diagram.${format}`, { query, repeatable: true });
    return answer.text();
  }

  private instancePath(externalRef: string): string {
    return `${this.base}/instances/${part(externalRef)}`;
  }
}
