// The catalog: connectors and their actions, with the schemas of parameters and outputs.

import type { ActionJson, ActionPatch, ConnectorJson, Page } from '../protocol/answer.ts';
import type { PluginJson, PluginRequest } from '../protocol/plugin.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

/** Short lists come whole unless the query has a limit. */
export interface ActionListQuery extends PageQuery {
  readonly connectorId?: string;
  readonly category?: string;
  readonly search?: string;
}

export class CatalogApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Registered plugins of execution plans. */
  plugins(query: PageQuery = {}): Promise<Page<PluginJson>> {
    return this.transport.get('/api/v1/plugins', { ...query });
  }

  /** Needs the role System. Registering the same code again changes nothing; other code under the same version is refused. */
  registerPlugin(plugin: PluginRequest): Promise<PluginJson> {
    return this.transport.ask('POST', '/api/v1/plugins', { body: plugin, repeatable: true });
  }

  connectors(query: PageQuery = {}): Promise<Page<ConnectorJson>> {
    return this.transport.get('/api/v1/connectors', { ...query });
  }

  connector(id: string): Promise<ConnectorJson> {
    return this.transport.get(`/api/v1/connectors/${part(id)}`);
  }

  connectorActions(id: string, query: PageQuery = {}): Promise<Page<ActionJson>> {
    return this.transport.get(`/api/v1/connectors/${part(id)}/actions`, { ...query });
  }

  setConnectorEnabled(id: string, isEnabled: boolean): Promise<ConnectorJson> {
    return this.transport.ask('PATCH', `/api/v1/connectors/${part(id)}`, { body: { isEnabled } });
  }

  actions(query: ActionListQuery = {}): Promise<Page<ActionJson>> {
    return this.transport.get('/api/v1/actions', { ...query });
  }

  action(id: string): Promise<ActionJson> {
    return this.transport.get(`/api/v1/actions/${part(id)}`);
  }

  updateAction(id: string, patch: ActionPatch): Promise<ActionJson> {
    return this.transport.ask('PATCH', `/api/v1/actions/${part(id)}`, { body: patch });
  }
}
