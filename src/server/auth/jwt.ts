// Bearer tokens: JSON Web Tokens, verified by a key set or a shared secret. We choose the algorithms, never the token; issuer,
// audience and expiry are required; a token that points to its own keys (jku, x5u) is refused.

import type { IncomingHttpHeaders } from 'node:http';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isTenantId } from '../../protocol/identifier.ts';
import { limitsSchema } from '../../protocol/limit.ts';
import { ROLES, type Role, SCOPES, type Scope } from '../../protocol/scope.ts';
import type { Caller } from '../caller.ts';
import type { Verifier } from './authenticator.ts';

export interface JwtOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: { readonly jwksUrl: string } | { readonly jwks: JSONWebKeySet } | { readonly secret: string };
  readonly clockToleranceSeconds: number;
}

const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'];
const FOREIGN_KEY_HEADERS = ['jku', 'x5u', 'jwk', 'x5c'];

export function jwtVerifier(options: JwtOptions): Verifier {
  const { issuer, audience, keys, clockToleranceSeconds: clockTolerance } = options;
  const algorithms = 'secret' in keys ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
  const key = keySource(keys);
  const requiredClaims = ['exp', 'sub', 'tenant_id'];
  return {
    async verify(headers) {
      const token = bearerToken(headers);
      if (token === null) return null;
      refuseForeignKeys(token);
      const checks = { issuer, audience, algorithms, requiredClaims, clockTolerance };
      const { payload } = await jwtVerify(token, key, checks).catch(refuse);
      return callerOf(payload, clockTolerance);
    },
  };
}

function keySource(keys: JwtOptions['keys']): JWTVerifyGetKey {
  if ('jwksUrl' in keys) return createRemoteJWKSet(new URL(keys.jwksUrl));
  if ('jwks' in keys) return createLocalJWKSet(keys.jwks);
  const secret = new TextEncoder().encode(keys.secret);
  return async () => secret;
}

export function bearerToken({ authorization }: IncomingHttpHeaders): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (token !== undefined) return token;
  if (authorization === undefined) return null;
  throw new PawlError('UNAUTHENTICATED', 'the Authorization header must be `Bearer` and a token');
}

function refuseForeignKeys(token: string): void {
  let header: object;
  try {
    header = decodeProtectedHeader(token);
  } catch {
    throw new PawlError('UNAUTHENTICATED', 'the token is not a JSON Web Token');
  }
  const foreign = FOREIGN_KEY_HEADERS.find((name) => name in header);
  if (foreign !== undefined)
    throw new PawlError('UNAUTHENTICATED', `a token with the header \`${foreign}\` is not accepted`);
}

/** The reason helps the sender of the token and reveals nothing to anyone else. */
function refuse(error: unknown): never {
  if (error instanceof errors.JWTExpired) throw new PawlError('UNAUTHENTICATED', 'the token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    throw new PawlError('UNAUTHENTICATED', `the claim \`${error.claim}\` of the token is missing or not as expected`);
  }
  const isOurTrouble =
    !(error instanceof errors.JOSEError) || error.code === 'ERR_JOSE_GENERIC' || error instanceof errors.JWKSTimeout;
  if (isOurTrouble) {
    throw new PawlError('UNAVAILABLE', 'the keys that tokens are verified with cannot be fetched at the moment');
  }
  throw new PawlError('UNAUTHENTICATED', 'the token is not valid');
}

function callerOf(claims: JWTPayload, toleranceSeconds: number): Caller {
  const { tenant_id: tenantId, sub, name, email } = claims;
  if (
    typeof tenantId !== 'string' ||
    !isTenantId(tenantId) ||
    typeof sub !== 'string' ||
    !/^[^\p{Cc}]{1,200}$/u.test(sub)
  ) {
    throw new PawlError('UNAUTHENTICATED', 'the token needs the claims `tenant_id` and `sub` as plain text');
  }
  const principal = {
    userId: sub,
    displayName: typeof name === 'string' ? name : sub,
    email: typeof email === 'string' ? email : null,
  };
  return {
    tenantId,
    subject: sub,
    principal,
    scopes: known(SCOPES, claims.scope ?? claims.scp ?? claims.scopes),
    roles: known(ROLES, claims.roles),
    rateKey: `${tenantId}:${sub}`,
    ...limitsIn(claims.pawl_limits),
    expiresAt: (claims.exp! + toleranceSeconds) * 1_000,
    loose: false,
  };
}

/** An unreadable limit must not become "no limit". */
function limitsIn(claim: unknown): Pick<Caller, 'limits'> {
  if (claim === undefined) return {};
  const limits = limitsSchema.safeParse(claim);
  if (limits.success) return { limits: limits.data };
  throw new PawlError('UNAUTHENTICATED', 'the claim `pawl_limits` of the token is not as expected');
}

/** Space separated (RFC 8693) or an array; `scope`, or `scp` and `scopes` of other issuers. Unknown names are ignored. */
function known<Name extends Scope | Role>(names: readonly Name[], claim: unknown): ReadonlySet<Name> {
  const claimed: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return new Set(names.filter((name) => claimed.includes(name)));
}
