// What an attempt is given to prove itself to another system: a token for connectors, and a way to put the credential on a
// request. Where it comes from (a connection, a program's own provider, the environment) is decided outside. Its secrets are told,
// so that they can be taken out of everything that the attempt says (S6).

import type { HttpRequest } from './http-client.ts';

export interface CredentialRequest {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly principalId: string;
  /** Of the action. */
  readonly connector: string;
  /** As the node names it; null: none. */
  readonly connection: string | null;
}

export interface Credential {
  /** For messages; null: it has no name. */
  readonly connection: string | null;
  /** The text that a connector sends; undefined: this kind has no single text. */
  readonly token: string | undefined;
  /** Every text that must not be seen. */
  readonly secrets: readonly string[];
  /** Throws when the request goes where the credential may not. */
  checkHost(url: URL): void;
  /** The request with the credential on it. A redirect takes it to no other origin. */
  authorize(request: HttpRequest): HttpRequest;
  /** The other system did not accept it. True: there may be a new one when it is asked for again. */
  refused(): boolean;
}

/** Returns a known credential at once; null: there is none. A thrown error fails the attempt. */
export type ResolveCredential = (request: CredentialRequest) => Credential | null | Promise<Credential | null>;

/** A program's own: `createPawl({ credentials })`. Undefined: it has none, and the connections are asked. */
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
