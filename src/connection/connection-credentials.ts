// Chooses the credential of an attempt: from a program's own provider; from the connection that the node names, the principal's
// own before the tenant's; or the tenant's default for the connector. Results are cached for a few seconds, so an attempt costs a
// look into memory, and a rotation is noticed at once in this process and soon in others.

import {
  bareCredential,
  type Credential,
  type CredentialProvider,
  type CredentialRequest,
  type ResolveCredential,
} from '../action/credential.ts';
import { TerminalError } from '../core/error/error.ts';
import type { Box } from '../secret/box.ts';
import type { SecretContext } from '../secret/secret.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { ConnectionRow, ConnectionStore } from '../store/secret-port.ts';
import { type ConnectionSecrets, credentialOf, givenSecrets, isOAuth } from './connection.ts';
import type { ConnectionTokens } from './connection-tokens.ts';

export interface CredentialsDeps {
  readonly store: Pick<ConnectionStore, 'connectionFind' | 'connectionDefault' | 'connectionUsed'>;
  readonly box: Box;
  readonly secrets: Secrets;
  readonly tokens: ConnectionTokens;
  readonly provider: CredentialProvider | null;
  readonly now: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** People must have a credential of their own; the tenant's does not replace it. */
  readonly ownCredentialsOnly: boolean;
}

/** Connectors without a credential, and `http`, where a connection must be named. */
const WITHOUT_DEFAULT = new Set(['core', 'http', 'lifecycle']);
const KEPT_MS = 5_000;
const MAX_KEPT = 20_000;
const USED_EVERY_MS = 60_000;
const SYSTEM_PRINCIPAL = 'system';

interface Kept {
  readonly row: ConnectionRow | null;
  readonly until: number;
  credential?: Credential;
}

export class ConnectionCredentials {
  private readonly deps: CredentialsDeps;
  private readonly kept = new Map<string, Kept>();
  private readonly usedAt = new Map<string, number>();

  constructor(deps: CredentialsDeps) {
    this.deps = deps;
  }

  readonly resolve: ResolveCredential = (request) => {
    const { provider } = this.deps;
    if (provider !== null) return this.providedOr(provider, request);
    return this.connected(request);
  };

  /** Drops the cached credentials of a tenant. */
  forget(tenantId: string): void {
    for (const key of this.kept.keys()) if (key.startsWith(`${tenantId}\0`)) this.kept.delete(key);
  }

  /** With the values of its references. */
  async secretsOf(row: ConnectionRow, context: Omit<SecretContext, 'tenantId'>): Promise<ConnectionSecrets> {
    const given = givenSecrets(this.deps.box, row);
    const entries = await Promise.all(
      Object.entries(given).map(async ([field, value]) => [
        field,
        typeof value === 'string' ? value : await this.deps.secrets.get(value, { ...context, tenantId: row.tenantId }),
      ]),
    );
    return Object.fromEntries(entries) as ConnectionSecrets;
  }

  async credentialFor(row: ConnectionRow, context: Omit<SecretContext, 'tenantId'>): Promise<Credential> {
    const secrets = await this.secretsOf(row, context);
    if (!isOAuth(row.kind)) return credentialOf({ row, secrets });
    const { tokens } = this.deps;
    const accessToken = tokens.known(row) ?? (await tokens.get(row, secrets));
    return credentialOf({ row, secrets, accessToken, drop: () => this.dropped(row, accessToken) });
  }

  private async providedOr(provider: CredentialProvider, request: CredentialRequest): Promise<Credential | null> {
    const token = request.connection === null ? await provider.token(request.connector, request) : undefined;
    return token === undefined ? this.connected(request) : bareCredential(token);
  }

  private connected(request: CredentialRequest): Credential | null | Promise<Credential | null> {
    const { connection, connector } = request;
    if (connection === null && WITHOUT_DEFAULT.has(connector)) return null;
    const kept = this.kept.get(keyOf(request));
    if (kept === undefined || kept.until <= this.deps.now()) return this.look(request);
    if (kept.row === null) return this.missing(request);
    this.noteUse(kept.row);
    return isReady(kept, this.deps.tokens) ? kept.credential! : this.open(kept, request);
  }

  private async look(request: CredentialRequest): Promise<Credential | null> {
    const row = await this.find(request);
    const kept: Kept = { row, until: this.deps.now() + KEPT_MS };
    if (this.kept.size >= MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(keyOf(request), kept);
    if (row === null) return this.missing(request);
    this.noteUse(row);
    return this.open(kept, request);
  }

  private async open(kept: Kept, { environmentId, principalId }: CredentialRequest): Promise<Credential> {
    const credential = await this.credentialFor(kept.row!, { environmentId, principalId });
    kept.credential = credential;
    return credential;
  }

  private missing({ connection, tenantId }: CredentialRequest): null {
    if (connection === null) return null;
    const message = `there is no connection "${connection}" of the tenant "${tenantId}": create it, or name another`;
    throw new TerminalError('CONNECTION_NOT_FOUND', message);
  }

  private async find(request: CredentialRequest): Promise<ConnectionRow | null> {
    const { tenantId, connection, connector, principalId } = request;
    const { store, ownCredentialsOnly } = this.deps;
    const shared =
      connection === null
        ? await store.connectionDefault({ tenantId, connector })
        : await store.connectionFind({ tenantId, name: connection, principalId: '' });
    const name = connection ?? shared?.name;
    if (name === undefined || principalId === SYSTEM_PRINCIPAL) return shared;
    const own = await store.connectionFind({ tenantId, name, principalId });
    if (own !== null || !ownCredentialsOnly) return own ?? shared;
    const message = `connection "${name}": ${principalId} has no credential of their own (auth.validateDownstreamPermissions)`;
    throw new TerminalError('CREDENTIAL_MISSING', message);
  }

  private dropped(row: ConnectionRow, accessToken: string): boolean {
    for (const kept of this.kept.values()) {
      if (kept.row?.connectionId === row.connectionId) delete kept.credential;
    }
    return this.deps.tokens.drop(row, accessToken);
  }

  /** At most once a minute, and not awaited. */
  private noteUse({ connectionId }: ConnectionRow): void {
    const at = this.deps.now();
    if ((this.usedAt.get(connectionId) ?? 0) + USED_EVERY_MS > at) return;
    if (this.usedAt.size >= MAX_KEPT) this.usedAt.clear();
    this.usedAt.set(connectionId, at);
    this.deps.store.connectionUsed({ connectionIds: [connectionId] }).catch((error: Error) => {
      this.deps.warn('the last use of a connection could not be noted', { connectionId, error: error.message });
    });
  }
}

function isReady({ row, credential }: Kept, tokens: ConnectionTokens): boolean {
  return credential !== undefined && (!isOAuth(row!.kind) || tokens.known(row!) === credential.token);
}

const keyOf = ({ tenantId, environmentId, principalId, connector, connection }: CredentialRequest): string =>
  `${tenantId}\0${environmentId}\0${principalId}\0${connection === null ? `\0${connector}` : connection}`;
