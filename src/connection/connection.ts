// An open connection: its settings and secrets as a credential for attempts. The meaning of each kind for a request is defined
// here only.

import { type Credential, withSecretHeaders } from '../action/credential.ts';
import type { HttpRequest } from '../action/http-client.ts';
import { TerminalError } from '../core/error/error.ts';
import type { SecretRef } from '../core/plan/plan.ts';
import { type ConnectionKind, KIND_FIELDS } from '../protocol/connection.ts';
import type { Box } from '../secret/box.ts';
import type { ConnectionRow } from '../store/secret-port.ts';
import { isAllowedHost } from './host.ts';
import { signAws } from './sigv4.ts';

/** From a person: the value, or a reference to it. */
export type GivenSecrets = Readonly<Record<string, string | SecretRef>>;
/** With the values of references. */
export type ConnectionSecrets = Readonly<Record<string, string | undefined>>;

export interface Settings {
  readonly header?: string;
  readonly username?: string;
  readonly tokenUrl?: string;
  readonly authorizationUrl?: string;
  readonly clientId?: string;
  readonly scope?: string | readonly string[];
  readonly audience?: string;
  readonly clientAuth?: 'basic' | 'body';
  readonly parameters?: Readonly<Record<string, string>>;
  readonly accessKeyId?: string;
  readonly region?: string;
  readonly service?: string;
  readonly checkUrl?: string;
}

export const settingsOf = ({ settings }: Pick<ConnectionRow, 'settings'>): Settings => JSON.parse(settings) as Settings;

/** Sealed contents are bound to their row and part. */
export const placeOf = (connectionId: string, part: 'secrets' | 'tokens'): string =>
  JSON.stringify(['connection', connectionId, part]);

export function givenSecrets(
  box: Box,
  { connectionId, sealed }: Pick<ConnectionRow, 'connectionId' | 'sealed'>,
): GivenSecrets {
  return JSON.parse(box.open(sealed, placeOf(connectionId, 'secrets'))) as GivenSecrets;
}

export const secretFieldsOf = (kind: ConnectionKind): readonly string[] => Object.keys(KIND_FIELDS[kind].secret);
export const shownFieldsOf = (kind: ConnectionKind): readonly string[] => Object.keys(KIND_FIELDS[kind].shown);

export const isOAuth = (kind: string): boolean => kind === 'oauth2-client-credentials' || kind === 'oauth2-code';

interface Parts {
  readonly row: ConnectionRow;
  readonly secrets: ConnectionSecrets;
  /** For kinds that get a token from an authorization server. */
  readonly accessToken?: string | undefined;
  /** Called when the token is no longer accepted. */
  readonly drop?: () => boolean;
}

export function credentialOf({ row, secrets, accessToken, drop = () => false }: Parts): Credential {
  const settings = settingsOf(row);
  const token = tokenOf(row.kind as ConnectionKind, settings, secrets, accessToken);
  const basic = Buffer.from(`${settings.username ?? ''}:${secrets.password ?? ''}`).toString('base64');
  const hidden = [...Object.values(secrets), accessToken, ...(row.kind === 'basic' ? [basic] : [])];
  return {
    connection: row.name,
    token,
    secrets: hidden.filter((text): text is string => text !== undefined && text !== ''),
    checkHost(url) {
      if (isAllowedHost(row.allowedHosts, url)) return;
      const message = `connection "${row.name}" may not be used for ${url.host}: its allowedHosts are ${row.allowedHosts.join(', ')}`;
      throw new TerminalError('CONNECTION_HOST_REFUSED', message);
    },
    authorize: (request) => authorized(row.kind as ConnectionKind, request, { settings, secrets, token, basic }),
    refused: drop,
  };
}

function tokenOf(
  kind: ConnectionKind,
  settings: Settings,
  secrets: ConnectionSecrets,
  accessToken: string | undefined,
): string | undefined {
  switch (kind) {
    case 'token':
      return secrets.token;
    case 'header':
      return secrets.value;
    case 'basic':
      return `${settings.username}:${secrets.password}`;
    case 'oauth2-client-credentials':
    case 'oauth2-code':
      return accessToken;
    case 'aws-sigv4':
      return undefined;
  }
}

interface Means {
  readonly settings: Settings;
  readonly secrets: ConnectionSecrets;
  readonly token: string | undefined;
  readonly basic: string;
}

function authorized(
  kind: ConnectionKind,
  request: HttpRequest,
  { settings, secrets, token, basic }: Means,
): HttpRequest {
  switch (kind) {
    case 'header':
      return withSecretHeaders(request, { [settings.header!.toLowerCase()]: secrets.value! });
    case 'basic':
      return withSecretHeaders(request, { authorization: `Basic ${basic}` });
    case 'aws-sigv4':
      return withSecretHeaders(request, signed(request, settings, secrets));
    default:
      return withSecretHeaders(request, { authorization: `Bearer ${token}` });
  }
}

function signed(request: HttpRequest, settings: Settings, secrets: ConnectionSecrets): Record<string, string> {
  const { method = 'GET', headers = {}, body = '' } = request;
  const key = {
    accessKeyId: settings.accessKeyId!,
    secretAccessKey: secrets.secretAccessKey!,
    sessionToken: secrets.sessionToken,
    region: settings.region!,
    service: settings.service!,
  };
  return signAws({ method, url: new URL(request.url), headers, body }, key, new Date());
}
