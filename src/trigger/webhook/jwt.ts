// Webhooks with a JSON Web Token, checked with the keys that the sender publishes. Keys are fetched through the guarded client
// (S5), cached, and fetched again when a token names an unknown key.

import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { RecentCache } from '../../core/cache/recent-cache.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { type Proof, refused, type SignedRequest } from './proof.ts';
import { textHeader } from './scheme.ts';

export interface JwtSettings {
  readonly jwksUrl: string;
  readonly audience?: string | undefined;
  readonly issuer?: string | undefined;
}

export type FetchKeys = (
  url: string,
  init: { method?: string; headers?: Headers; signal?: AbortSignal },
) => Promise<Response>;

/** Signatures that need the sender's private key. Use `hmac` for a shared secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const MAX_KEY_SETS = 1_000;
const CLOCK_TOLERANCE_S = 60;

export class JwtCheck {
  private readonly fetchKeys: FetchKeys;
  private readonly keySets = new RecentCache<JWTVerifyGetKey>(MAX_KEY_SETS);

  constructor(fetchKeys: FetchKeys) {
    this.fetchKeys = fetchKeys;
  }

  async check({ jwksUrl, audience, issuer }: JwtSettings, { headers, rawBody }: SignedRequest): Promise<Proof> {
    const [, token] = /^bearer +(\S+)$/i.exec(textHeader(headers, 'authorization') ?? '') ?? [];
    if (token === undefined) return refused('the header Authorization must be a Bearer token');
    try {
      await jwtVerify(token, this.keysOf(jwksUrl), {
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_TOLERANCE_S,
        ...(audience === undefined ? {} : { audience }),
        ...(issuer === undefined ? {} : { issuer }),
      });
    } catch (error) {
      return refusal(error, jwksUrl);
    }
    return { ok: true, seal: createHash('sha256').update(token).update('\0').update(rawBody).digest('hex') };
  }

  private keysOf(jwksUrl: string): JWTVerifyGetKey {
    return this.keySets.getOrMake(jwksUrl, 1, () =>
      createRemoteJWKSet(new URL(jwksUrl), { [customFetch]: (url, init) => this.fetchKeys(String(url), init) }),
    );
  }
}

const OF_THE_TOKEN = [
  errors.JWTClaimValidationFailed,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
];

/** A bad token is the sender's mistake. Keys that cannot be fetched may be available on the next try. */
function refusal(error: unknown, jwksUrl: string): Proof {
  if (error instanceof errors.JWTExpired) return refused('the token has expired', true);
  if (OF_THE_TOKEN.some((kind) => error instanceof kind)) {
    return refused(`the token is not valid: ${(error as Error).message}`);
  }
  throw new PawlError(
    'UNAVAILABLE',
    `the keys at ${new URL(jwksUrl).origin} cannot be had: ${(error as Error).message}`,
  );
}
