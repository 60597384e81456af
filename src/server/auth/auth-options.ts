// Builds the authenticators from the options: API keys always, tokens if their keys are configured, and anonymous callers only in loose mode.

import { readFileSync } from 'node:fs';
import type { JSONWebKeySet } from 'jose';
import type { AccessStore } from '../../store/access-port.ts';
import { apiKeyVerifier } from './api-key.ts';
import { type Auth, createAuth } from './authenticator.ts';
import { type JwtOptions, jwtVerifier } from './jwt.ts';

export interface AuthOptions {
  readonly allowLooseAuth: boolean;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  readonly jwksUrl?: string | undefined;
  readonly jwksFile?: string | undefined;
  readonly secret?: string | undefined;
  readonly clockToleranceSeconds: number;
}

/** The configured authentication cannot protect anything, so the server does not start. */
export class AuthConfigError extends Error {
  override readonly name = 'AuthConfigError';
}

export async function openAuth(options: AuthOptions, store: AccessStore): Promise<Auth> {
  const tokens = jwtOptions(options);
  const verifiers = [apiKeyVerifier(store), ...(tokens === null ? [] : [jwtVerifier(tokens)])];
  if (options.allowLooseAuth) return createAuth('loose', verifiers);
  if (tokens === null && !(await store.apiKeyAny())) {
    throw new AuthConfigError(
      'Nobody could use this server: no keys for tokens are configured and there is no API key.\n' +
        '  Create a key:      pawl keys create --tenant T --scope workflows:read --scope workflows:manage --scope workflows:execute\n' +
        '  or verify tokens:  PAWL_AUTH_JWKS_URL (or PAWL_AUTH_SECRET), PAWL_AUTH_ISSUER, PAWL_AUTH_AUDIENCE\n' +
        '  or, on a machine that only you can reach:  --insecure',
    );
  }
  return createAuth('strict', verifiers);
}

function jwtOptions(options: AuthOptions): JwtOptions | null {
  const { issuer, audience, clockToleranceSeconds } = options;
  const keys = keysOf(options);
  if (keys === null) return null;
  if (issuer === undefined || audience === undefined) {
    throw new AuthConfigError(
      'Tokens need both auth.issuer and auth.audience: which tokens are meant for this server?',
    );
  }
  return { issuer, audience, keys, clockToleranceSeconds };
}

function keysOf({ jwksUrl, jwksFile, secret }: AuthOptions): JwtOptions['keys'] | null {
  const given = [jwksUrl, jwksFile, secret].filter((option) => option !== undefined);
  if (given.length > 1)
    throw new AuthConfigError('Give one of auth.jwksUrl, auth.jwksFile and auth.secret, not several.');
  if (jwksUrl !== undefined) return { jwksUrl };
  if (jwksFile !== undefined) return { jwks: readKeySet(jwksFile) };
  return secret === undefined ? null : { secret };
}

function readKeySet(file: string): JSONWebKeySet {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JSONWebKeySet;
  } catch (error) {
    throw new AuthConfigError(`auth.jwksFile cannot be read: ${(error as Error).message}`);
  }
}
