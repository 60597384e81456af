// Credentials for other systems, and secrets: created, rotated and removed here, never read.

import type {
  ConnectionAuthorizeJson,
  ConnectionCheckJson,
  ConnectionJson,
  ConnectionRequest,
  Page,
  SecretJson,
} from '../protocol/answer.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

const BASE = '/api/v1/connections';

/** The person whose own credential is meant; absent: the tenant's. */
export interface OfPrincipal {
  readonly principal?: string;
}

export class ConnectionsApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  create(request: ConnectionRequest): Promise<ConnectionJson> {
    return this.transport.ask('POST', BASE, { body: request });
  }

  list(query: PageQuery & { readonly connector?: string } = {}): Promise<Page<ConnectionJson>> {
    return this.transport.get(BASE, { ...query });
  }

  get(name: string, of: OfPrincipal = {}): Promise<ConnectionJson> {
    return this.transport.get(at(name), { ...of });
  }

  /** Rotates the secret or changes other fields. Omitted fields stay as they are. */
  change(name: string, change: Readonly<Record<string, unknown>>, of: OfPrincipal = {}): Promise<ConnectionJson> {
    return this.transport.ask('PUT', at(name), { body: change, query: { ...of } });
  }

  async delete(name: string, of: OfPrincipal = {}): Promise<void> {
    await this.transport.ask('DELETE', at(name), { query: { ...of } });
  }

  /** Whether it still works. */
  check(name: string, of: OfPrincipal = {}): Promise<ConnectionCheckJson> {
    return this.transport.ask('POST', `${at(name)}/check`, { query: { ...of } });
  }

  /** For an oauth2-code connection: the URL where the owner of the account signs in. */
  authorize(name: string, of: OfPrincipal = {}): Promise<ConnectionAuthorizeJson> {
    return this.transport.ask('POST', `${at(name)}/authorize`, { query: { ...of } });
  }
}

const at = (name: string): string => `${BASE}/${part(name)}`;

export class SecretsApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  list(query: PageQuery = {}): Promise<Page<SecretJson>> {
    return this.transport.get('/api/v1/secrets', { ...query });
  }

  /** Stores the next version. */
  set(name: string, value: string, options: { readonly environmentId?: string } = {}): Promise<SecretJson> {
    return this.transport.ask('PUT', `/api/v1/secrets/${part(name)}`, { body: { value, ...options } });
  }

  async remove(name: string, options: { readonly environmentId?: string } = {}): Promise<void> {
    await this.transport.ask('DELETE', `/api/v1/secrets/${part(name)}`, { query: { ...options } });
  }
}
