// The servers that get generated requests: one without authentication, and one that needs a token with every scope. Both refuse
// to send an answer that their own document does not describe.

import { SignJWT } from 'jose';
import type { PawlOptions } from '../../src/main.ts';
import { ROLES, SCOPES } from '../../src/protocol/scope.ts';

const SECRET = 'a-secret-of-the-fuzzed-server-that-is-long-enough';
const ISSUER = 'https://issuer.example';
const AUDIENCE = 'pawl-fuzz';
const MANY = 10_000_000;

const common = {
  serve: true,
  server: { port: 0, checkAnswers: true, logLevel: 'silent' },
  rateLimit: {
    ...{ perTokenPerMinute: MANY, perTokenBurst: MANY },
    ...{ readsPerTokenPerMinute: MANY, readsPerTokenBurst: MANY },
  },
} as const satisfies PawlOptions;

export const LOOSE: PawlOptions = { ...common, auth: { allowLooseAuth: true } };
export const STRICT: PawlOptions = { ...common, auth: { secret: SECRET, issuer: ISSUER, audience: AUDIENCE } };

export function strictToken(): Promise<string> {
  return new SignJWT({ tenant_id: 'acme', scope: SCOPES.join(' '), roles: ROLES })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('ada')
    .setExpirationTime('2h')
    .sign(new TextEncoder().encode(SECRET));
}
