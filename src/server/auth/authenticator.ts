// How a request proves its sender. `null`: it carries no proof; a wrong proof is UNAUTHENTICATED.

import type { IncomingHttpHeaders } from 'node:http';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isTenantId, TENANT_ID_RULE } from '../../protocol/identifier.ts';
import { ROLES, SCOPES } from '../../protocol/scope.ts';
import type { Caller } from '../caller.ts';

export interface Verifier {
  verify(headers: IncomingHttpHeaders): Promise<Caller | null>;
}

export interface Auth {
  readonly mode: 'strict' | 'loose';
  /** Always checks: a key that was just revoked is refused. */
  authenticate(headers: IncomingHttpHeaders): Promise<Caller>;
  /**
   * Without waiting: a caller that was verified recently. A token is valid until it expires; a key may have been revoked
   * since.
   */
  known?(headers: IncomingHttpHeaders): Caller | null;
}

/** Issuers rotate their keys, so a token is verified again after this time. */
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 10_000;
const LONGEST_REMEMBERED = 4_096;

/** The authenticators are tried in turn. Without any credential, strict mode refuses and loose mode trusts the request. */
export function createAuth(mode: 'strict' | 'loose', verifiers: readonly Verifier[]): Auth {
  const verify = async (headers: IncomingHttpHeaders): Promise<Caller> => {
    for (const verifier of verifiers) {
      const caller = await verifier.verify(headers);
      if (caller !== null) return caller;
    }
    if (mode === 'loose') return looseCaller(headers);
    throw new PawlError('UNAUTHENTICATED', headers.authorization === undefined ? NO_PROOF : NO_TOKENS_HERE);
  };
  const remembered = new Map<string, { readonly caller: Caller; readonly at: number }>();
  const asked = new Map<string, Promise<Caller>>();
  const ask = async (headers: IncomingHttpHeaders, credential: string): Promise<Caller> => {
    try {
      const caller = await verify(headers);
      remembered.delete(credential);
      remembered.set(credential, { caller, at: performance.now() });
      if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!);
      return caller;
    } catch (error) {
      remembered.delete(credential);
      throw error;
    } finally {
      asked.delete(credential);
    }
  };
  /** Concurrent requests with the same credential share one check. */
  const authenticate = (headers: IncomingHttpHeaders): Promise<Caller> => {
    const credential = credentialIn(headers);
    if (credential === '' || credential.length > LONGEST_REMEMBERED) return verify(headers);
    const answer = asked.get(credential) ?? ask(headers, credential);
    asked.set(credential, answer);
    return answer;
  };
  return {
    mode,
    authenticate,
    known(headers) {
      const entry = remembered.get(credentialIn(headers));
      if (entry === undefined) return null;
      const { caller, at } = entry;
      const isOver = (caller.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now();
      return isOver || performance.now() - at > REMEMBERED_MS ? null : caller;
    },
  };
}

/** The credentials of a request; empty: none. */
export function credentialIn({ authorization = '', ...headers }: IncomingHttpHeaders): string {
  const key = headers['x-api-key'];
  return authorization === '' && key === undefined ? '' : `${authorization}\n${String(key ?? '')}`;
}

const NO_PROOF = 'send a token as `Authorization: Bearer …` or a key as `X-Api-Key`';
/** A verifier of tokens would have answered. */
const NO_TOKENS_HERE =
  'this server verifies no tokens, only API keys: send one that begins with `pawl_` as `X-Api-Key`';

const DEFAULT_TENANT = 'default';

function looseCaller(headers: IncomingHttpHeaders): Caller {
  const tenantId = headers['x-tenant-id'] ?? DEFAULT_TENANT;
  if (typeof tenantId !== 'string' || !isTenantId(tenantId)) {
    throw new PawlError('REQUEST_INVALID', `X-Tenant-Id ${TENANT_ID_RULE}`);
  }
  return {
    tenantId,
    subject: 'system',
    principal: { userId: 'system', displayName: 'System', email: null },
    scopes: new Set(SCOPES),
    roles: new Set(ROLES),
    rateKey: 'loose',
    loose: true,
    tenantIsOpen: headers['x-tenant-id'] === undefined,
  };
}
