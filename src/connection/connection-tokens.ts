// Access tokens of OAuth2 connections. Tokens for client credentials stay in this process. Tokens that a person granted are in
// the database, sealed. One process at a time renews them, because a refresh token may work only once, and the new tokens are
// saved before anybody uses them.

import type { HttpClient } from '../action/http-client.ts';
import { RetryableError, TerminalError } from '../core/error/error.ts';
import type { Box } from '../secret/box.ts';
import type { ConnectionRow, ConnectionStore } from '../store/secret-port.ts';
import { type ConnectionSecrets, placeOf, settingsOf } from './connection.ts';
import { type OAuthClient, type OAuthTokens, requestTokens, scopeText } from './oauth.ts';

export interface TokensDeps {
  readonly store: Pick<ConnectionStore, 'connectionTokenClaim' | 'connectionTokenSave'>;
  readonly box: Box;
  readonly http: HttpClient;
  readonly now: () => number;
  /** Waits before checking again whether another process is done. */
  readonly pause: (ms: number) => Promise<void>;
}

/** A token that expires within this time is not used. */
const MARGIN_MS = 30_000;
const LEASE_MS = 30_000;
const LOOK_AGAIN_MS = 200;
const TRIES = 150;

export const NOT_AUTHORIZED = 'nobody has signed in for it yet: authorize it';

export class ConnectionTokens {
  private readonly deps: TokensDeps;
  /** By connection and revision. */
  private readonly kept = new Map<string, OAuthTokens>();
  private readonly asked = new Map<string, Promise<string>>();

  constructor(deps: TokensDeps) {
    this.deps = deps;
  }

  /** undefined: it must be fetched. */
  known(row: ConnectionRow): string | undefined {
    const tokens = this.kept.get(idOf(row));
    return tokens !== undefined && this.isFresh(tokens) ? tokens.accessToken : undefined;
  }

  get(row: ConnectionRow, secrets: ConnectionSecrets): Promise<string> {
    const id = idOf(row);
    const known = this.asked.get(id);
    if (known !== undefined) return known;
    const ask = row.kind === 'oauth2-code' ? this.granted(row, secrets) : this.own(row, secrets);
    const asked = ask.finally(() => this.asked.delete(id));
    this.asked.set(id, asked);
    return asked;
  }

  /** The token was rejected: the next caller gets a new one. */
  drop(row: ConnectionRow, accessToken: string): boolean {
    const id = idOf(row);
    if (this.kept.get(id)?.accessToken !== accessToken) return true;
    this.kept.set(id, { ...this.kept.get(id)!, expiresAt: 0 });
    return true;
  }

  private isFresh({ expiresAt }: OAuthTokens): boolean {
    return expiresAt === undefined || expiresAt - MARGIN_MS > this.deps.now();
  }

  private async own(row: ConnectionRow, secrets: ConnectionSecrets): Promise<string> {
    const client = clientOf(row, secrets);
    const grant = { grant_type: 'client_credentials', scope: scopeText(client.scope), audience: client.audience };
    const tokens = await this.ask(row, client, grant);
    this.kept.set(idOf(row), tokens);
    return tokens.accessToken;
  }

  private async granted(row: ConnectionRow, secrets: ConnectionSecrets): Promise<string> {
    const refused = this.kept.get(idOf(row))?.accessToken;
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await this.deps.store.connectionTokenClaim({ connectionId: row.connectionId, leaseMs: LEASE_MS });
      if (found === null) throw new TerminalError('CONNECTION_NOT_FOUND', `connection "${row.name}" is gone`);
      const tokens = this.open(found.row);
      const isNews = tokens !== null && tokens.accessToken !== refused && this.isFresh(tokens);
      if (found.claimed) return isNews ? this.release(found.row, tokens) : this.refresh(found.row, secrets, tokens);
      if (isNews) return this.keep(row, tokens);
      await this.deps.pause(LOOK_AGAIN_MS);
    }
    const message = `connection "${row.name}": another process has been asking for a token for too long`;
    throw new RetryableError('CREDENTIAL_UNAVAILABLE', message);
  }

  private async refresh(row: ConnectionRow, secrets: ConnectionSecrets, before: OAuthTokens | null): Promise<string> {
    const { connectionId, name } = row;
    const refreshToken = before?.refreshToken ?? secrets.refreshToken;
    if (refreshToken === undefined) {
      const problem =
        before === null ? NOT_AUTHORIZED : 'its token has ended, and cannot be renewed: authorize it again';
      await this.deps.store.connectionTokenSave({ connectionId, tokens: null, problem });
      throw new TerminalError('CREDENTIAL_REFUSED', `connection "${name}": ${problem}`);
    }
    try {
      const client = clientOf(row, secrets);
      const fresh = await this.ask(row, client, { grant_type: 'refresh_token', refresh_token: refreshToken });
      return await this.save(row, { ...fresh, refreshToken: fresh.refreshToken ?? refreshToken });
    } catch (error) {
      const isFinal = error instanceof TerminalError;
      const problem = isFinal ? `${error.message}: authorize it again` : row.problem;
      await this.deps.store.connectionTokenSave({ connectionId, tokens: null, problem });
      throw error;
    }
  }

  /** Stores the tokens that a person granted or that were renewed since. */
  async save(row: ConnectionRow, tokens: OAuthTokens): Promise<string> {
    const { connectionId } = row;
    const sealed = this.deps.box.seal(JSON.stringify(tokens), placeOf(connectionId, 'tokens'));
    await this.deps.store.connectionTokenSave({ connectionId, tokens: sealed, problem: null });
    return this.keep(row, tokens);
  }

  ask(
    row: ConnectionRow,
    client: OAuthClient,
    grant: Readonly<Record<string, string | undefined>>,
  ): Promise<OAuthTokens> {
    return requestTokens(this.deps.http, client, grant, { name: row.name, now: this.deps.now });
  }

  private async release(row: ConnectionRow, tokens: OAuthTokens): Promise<string> {
    const { connectionId, problem } = row;
    await this.deps.store.connectionTokenSave({ connectionId, tokens: null, problem });
    return this.keep(row, tokens);
  }

  private keep(row: ConnectionRow, tokens: OAuthTokens): string {
    this.kept.set(idOf(row), tokens);
    return tokens.accessToken;
  }

  private open({ connectionId, tokens }: ConnectionRow): OAuthTokens | null {
    if (tokens === null) return null;
    return JSON.parse(this.deps.box.open(tokens, placeOf(connectionId, 'tokens'))) as OAuthTokens;
  }
}

const idOf = ({ connectionId, revision }: ConnectionRow): string => `${connectionId}:${revision}`;

export function clientOf(row: ConnectionRow, secrets: ConnectionSecrets): OAuthClient {
  const { tokenUrl, clientId, scope, audience, clientAuth } = settingsOf(row);
  return { tokenUrl: tokenUrl!, clientId: clientId!, clientSecret: secrets.clientSecret, scope, audience, clientAuth };
}
