// API keys: `pawl_` and 32 random bytes, stored only as a sha256. A plain hash is enough, because there is nothing to guess. Sent
// as `X-Api-Key` or as a bearer token.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { type Limits, limitsSchema } from '../../protocol/limit.ts';
import { ROLES, type Role, SCOPES, type Scope } from '../../protocol/scope.ts';
import type { AccessStore, ApiKey } from '../../store/access-port.ts';
import { type Actor, type AuditStore, SYSTEM } from '../../store/audit-port.ts';
import type { Caller } from '../caller.ts';
import type { Verifier } from './authenticator.ts';

const PREFIX = 'pawl_';
const KEY = /^pawl_[A-Za-z0-9_-]{43}$/;

export interface NewKey {
  readonly tenantId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly roles: readonly Role[];
  /** Absent: everything of the tenant. */
  readonly limits?: Limits | undefined;
  readonly expiresAt: number | null;
}

/** Only this answer contains the key. */
export async function createApiKey(
  store: Pick<AuditStore, 'audited'>,
  key: NewKey,
  by: Actor = SYSTEM,
): Promise<{ id: string; key: string }> {
  const secret = `${PREFIX}${randomBytes(32).toString('base64url')}`;
  const id = randomUUID();
  const { tenantId, name } = key;
  const [scopes, roles] = [[...key.scopes], [...key.roles]];
  const limits = key.limits === undefined ? null : JSON.stringify(key.limits);
  await store.audited({
    tenantId,
    by,
    work: (joined) => joined.apiKeyCreate({ ...key, id, hash: hashOf(secret), scopes, roles, limits }),
    deed: () => ({
      action: 'key.create',
      target: `key/${id}`,
      details: { name, scopes, roles, ...(limits === null ? {} : { limits: JSON.parse(limits) as JsonObject }) },
    }),
  });
  return { id, key: secret };
}

/** false: no such key, or already revoked. */
export function revokeApiKey(
  store: Pick<AuditStore, 'audited'>,
  key: { tenantId: string; id: string },
  by: Actor = SYSTEM,
): Promise<boolean> {
  return store.audited({
    tenantId: key.tenantId,
    by,
    work: (joined) => joined.apiKeyRevoke(key),
    deed: (revoked) => (revoked ? { action: 'key.revoke', target: `key/${key.id}` } : null),
  });
}

export function apiKeyVerifier(store: AccessStore): Verifier {
  return {
    async verify(headers) {
      const key = keyIn(headers);
      if (key === null) return null;
      const found = KEY.test(key) ? await store.apiKeyFind({ hash: hashOf(key) }) : null;
      if (found === null) throw new PawlError('UNAUTHENTICATED', 'the API key is not valid, or no longer');
      return callerOf(found);
    },
  };
}

function keyIn(headers: IncomingHttpHeaders): string | null {
  const header = headers['x-api-key'];
  if (typeof header === 'string') return header;
  const [, token] = /^Bearer +(pawl_\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return token ?? null;
}

const hashOf = (key: string): Uint8Array => createHash('sha256').update(key).digest();

function callerOf({ id, tenantId, name, scopes, roles, limits, expiresAt }: ApiKey): Caller {
  return {
    tenantId,
    subject: `key:${name}`,
    principal: { userId: `key:${name}`, displayName: name, email: null },
    scopes: new Set(SCOPES.filter((scope) => scopes.includes(scope))),
    roles: new Set(ROLES.filter((role) => roles.includes(role))),
    rateKey: `key:${id}`,
    ...(limits === null ? {} : { limits: limitsSchema.parse(JSON.parse(limits)) }),
    ...(expiresAt === null ? {} : { keyExpiresAt: expiresAt }),
    loose: false,
  };
}
