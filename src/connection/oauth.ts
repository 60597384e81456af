// Requests to an authorization server (RFC 6749): tokens for client credentials, for a code, for a refresh token. They go through
// the guarded client (S5). The server's description of a failure is kept; the request never is (S6).

import type { HttpClient } from '../action/http-client.ts';
import { RetryableError, TerminalError } from '../core/error/error.ts';

export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly scope?: string | readonly string[] | undefined;
  readonly audience?: string | undefined;
  /** How the client authenticates: in the header (as the standard prefers) or in the form. */
  readonly clientAuth?: 'basic' | 'body' | undefined;
}

export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Milliseconds since the epoch; absent: the server did not say. */
  readonly expiresAt?: number | undefined;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 64 * 1024;

export const scopeText = (scope: OAuthClient['scope']): string | undefined =>
  scope === undefined || typeof scope === 'string' ? scope : scope.join(' ');

export async function requestTokens(
  http: HttpClient,
  client: OAuthClient,
  grant: Readonly<Record<string, string | undefined>>,
  { name, now }: { readonly name: string; readonly now: () => number },
): Promise<OAuthTokens> {
  const inBody = client.clientAuth === 'body' || client.clientSecret === undefined;
  const fields = { ...grant, ...(inBody ? { client_id: client.clientId, client_secret: client.clientSecret } : {}) };
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  const response = await http.request({
    url: client.tokenUrl,
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(inBody ? {} : { authorization: basicOf(client.clientId, client.clientSecret!) }),
    },
    body: new URLSearchParams(given).toString(),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  return readTokens(response, { name, now });
}

/** Both parts are form-encoded first (RFC 6749, 2.3.1). */
function basicOf(clientId: string, clientSecret: string): string {
  const encoded = [clientId, clientSecret].map((part) => new URLSearchParams([['', part]]).toString().slice(1));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

function readTokens(
  { status, body }: { readonly status: number; readonly body: Buffer },
  { name, now }: { readonly name: string; readonly now: () => number },
): OAuthTokens {
  const answer = jsonIn(body);
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = answer;
  if (status === 200 && typeof accessToken === 'string' && accessToken !== '') {
    const seconds = Number(expiresIn);
    return {
      accessToken,
      ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
      ...(Number.isFinite(seconds) && seconds > 0 ? { expiresAt: now() + seconds * 1000 } : {}),
    };
  }
  const said = [answer.error, answer.error_description].filter((part) => typeof part === 'string').join(': ');
  const detail = said === '' ? `status ${status}` : said.slice(0, 300);
  if (status === 429 || status >= 500 || said === '') {
    throw new RetryableError(
      'CREDENTIAL_UNAVAILABLE',
      `connection "${name}": the authorization server failed (${detail})`,
    );
  }
  throw new TerminalError(
    'CREDENTIAL_REFUSED',
    `connection "${name}": the authorization server refused it (${detail})`,
  );
}

function jsonIn(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
