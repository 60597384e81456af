// How a request proves who sends it. `null`: it carries no proof; a wrong proof is UNAUTHENTICATED.

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
  authenticate(headers: IncomingHttpHeaders): Promise<Caller>;
}

/** Tried in turn; without any proof, strict refuses and loose takes the word of whoever asks. */
export function createAuth(mode: 'strict' | 'loose', verifiers: readonly Verifier[]): Auth {
  return {
    mode,
    async authenticate(headers) {
      for (const verifier of verifiers) {
        const caller = await verifier.verify(headers);
        if (caller !== null) return caller;
      }
      if (mode === 'loose') return looseCaller(headers);
      throw new PawlError('UNAUTHENTICATED', headers.authorization === undefined ? NO_PROOF : NO_TOKENS_HERE);
    },
  };
}

const NO_PROOF = 'send a token as `Authorization: Bearer …` or a key as `X-Api-Key`';
/** Whoever verifies tokens would have answered. */
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
