// The credential of an attempt: a token for connectors, and a way to put it on a request. Its source (a connection, a program's
// own provider, the environment) is chosen elsewhere. Its secrets are known, so that they can be redacted from everything the
// attempt says (S6).

import type { HttpRequest } from './http-client.ts';

export interface CredentialRequest {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly principalId: string;
  /** Of the action. */
  readonly connector: string;
  /** The connection that the node names; null: none. */
  readonly connection: string | null;
}

export interface Credential {
  /** For messages; null: it has no name. */
  readonly connection: string | null;
  /** The text that a connector sends; undefined: this kind has no single text. */
  readonly token: string | undefined;
  /** Every text that must be redacted. */
  readonly secrets: readonly string[];
  /** Throws when the credential must not be sent to this host. */
  checkHost(url: URL): void;
  /** The request with the credential. A redirect to another origin drops it. */
  authorize(request: HttpRequest): HttpRequest;
  /** The other system refused the credential. true: there may be a new one at the next request. */
  refused(): boolean;
}

/** Returns a known credential at once; null: there is none. A thrown error fails the attempt. */
export type ResolveCredential = (request: CredentialRequest) => Credential | null | Promise<Credential | null>;

/** A program's own provider: `createPawl({ credentials })`. undefined: it has none, and connections are used. */
export interface CredentialProvider {
  token(connector: string, request: CredentialRequest): string | undefined | Promise<string | undefined>;
}

/** A bare token, without limits. */
export function bareCredential(token: string, connection: string | null = null): Credential {
  return {
    connection,
    token,
    secrets: [token],
    checkHost() {},
    authorize: (request) => withSecretHeaders(request, { authorization: `Bearer ${token}` }),
    refused: () => false,
  };
}

export function withSecretHeaders(request: HttpRequest, secret: Readonly<Record<string, string>>): HttpRequest {
  const names = Object.keys(secret);
  const given = Object.entries(request.headers ?? {}).filter(([name]) => !names.includes(name.toLowerCase()));
  return { ...request, headers: { ...Object.fromEntries(given), ...secret }, secretHeaders: names };
}
