// A person signs in at another system and authorises us (OAuth2 authorisation code, with PKCE). Our state travels with the
// person, sealed: nobody can make or change it, and it expires soon.

import { createHash, randomBytes } from 'node:crypto';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Box } from '../secret/box.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { ConnectionKey, ConnectionRow } from '../store/secret-port.ts';
import { settingsOf } from './connection.ts';
import type { ConnectionCredentials } from './connection-credentials.ts';
import { type ConnectionTokens, clientOf } from './connection-tokens.ts';
import type { Connections } from './connections.ts';
import { scopeText } from './oauth.ts';

export interface AuthorizationDeps {
  readonly connections: Connections;
  readonly credentials: ConnectionCredentials;
  readonly tokens: ConnectionTokens;
  readonly store: Pick<AuditStore, 'audited'>;
  readonly box: Box;
  readonly now: () => number;
  /** The redirect address. */
  readonly redirectUri: () => string;
}

const ENDS_AFTER_MS = 15 * 60_000;
const PLACE = 'connection authorization';

interface Remembered extends ConnectionKey {
  readonly connectionId: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly endsAt: number;
}

export class Authorization {
  private readonly deps: AuthorizationDeps;

  constructor(deps: AuthorizationDeps) {
    this.deps = deps;
  }

  /** The URL where the owner of the account signs in. */
  async begin(key: ConnectionKey): Promise<string> {
    const row = await this.deps.connections.get(key);
    requireCode(row);
    const verifier = randomBytes(32).toString('base64url');
    const redirectUri = this.deps.redirectUri();
    const remembered: Remembered = {
      ...key,
      connectionId: row.connectionId,
      verifier,
      redirectUri,
      endsAt: this.deps.now() + ENDS_AFTER_MS,
    };
    const settings = settingsOf(row);
    const url = new URL(settings.authorizationUrl!);
    const parameters = {
      ...settings.parameters,
      response_type: 'code',
      client_id: settings.clientId!,
      redirect_uri: redirectUri,
      scope: scopeText(settings.scope),
      state: Buffer.from(this.deps.box.sealText(JSON.stringify(remembered), PLACE)).toString('base64url'),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
    return url.href;
  }

  /** Called on the redirect, with a code or an error. Returns the connection's name. */
  async complete(
    {
      state,
      code,
      error,
    }: { readonly state?: string | undefined; readonly code?: string | undefined; readonly error?: string | undefined },
    by: Actor = SYSTEM,
  ): Promise<string> {
    const { verifier, redirectUri, connectionId, endsAt, ...key } = this.remembered(state ?? '');
    if (endsAt < this.deps.now()) throw refused('this took longer than 15 minutes: begin again');
    const row = await this.deps.connections.get(key);
    if (row.connectionId !== connectionId) throw refused('the connection is another one by now: begin again');
    requireCode(row);
    if (code === undefined) throw refused(`the other system did not allow it (${(error ?? 'no code').slice(0, 100)})`);
    const { credentials, tokens, store } = this.deps;
    const secrets = await credentials.secretsOf(row, { environmentId: 'default', principalId: key.principalId });
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const granted = await tokens.ask(row, clientOf(row, secrets), grant).catch((cause: Error) => {
      throw refused(cause.message);
    });
    await tokens.save(row, granted);
    const target = `connection/${key.name}`;
    await store.audited({
      tenantId: key.tenantId,
      by,
      work: async () => {},
      deed: () => ({ action: 'connection.authorize', target }),
    });
    credentials.forget(key.tenantId);
    return row.name;
  }

  private remembered(state: string): Remembered {
    try {
      const sealed = Buffer.from(state, 'base64url').toString('utf8');
      // An unsealed text would be taken at its word.
      if (!sealed.startsWith('sealed:')) throw new Error('not sealed');
      return JSON.parse(this.deps.box.openText(sealed, PLACE)) as Remembered;
    } catch {
      throw refused('the address is not one that we have made: begin again');
    }
  }
}

function requireCode({ kind, name }: ConnectionRow): void {
  if (kind === 'oauth2-code') return;
  throw new PawlError('WRONG_KIND', `connection "${name}" is of kind ${kind}: nobody has to sign in for it`);
}

const refused = (message: string): PawlError => new PawlError('REQUEST_INVALID', message);
