// The caller: from a verified token or key, or in loose mode from nothing. Handlers take the tenant from here and from nowhere
// else (S1).

import type { Limits } from '../protocol/limit.ts';
import type { Role, Scope } from '../protocol/scope.ts';

export interface Caller {
  readonly tenantId: string;
  /** The token's `sub`, or the name of the API key. */
  readonly subject: string;
  /** The principal of started executions, unless the request names a permitted one. */
  readonly principal: Principal;
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: ReadonlySet<Role>;
  /** Absent: everything of its tenant that its scopes allow. */
  readonly limits?: Limits;
  /** The rate limit that a request counts against. */
  readonly rateKey: string;
  /** When the token expires, in milliseconds; absent: a key, which is checked in the database. */
  readonly expiresAt?: number;
  readonly keyExpiresAt?: number;
  /** Unverified: the tenant may come from a header or the body. */
  readonly loose: boolean;
  /** Loose, and the request names no tenant: an id in its path determines it. */
  readonly tenantIsOpen?: boolean;
}

export interface Principal {
  readonly userId: string;
  readonly displayName?: string | undefined;
  readonly email?: string | null | undefined;
}
