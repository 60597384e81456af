// Who asks: made from a verified token or key, or in loose mode from nothing. Handlers take the tenant from here and from
// nowhere else (S1).

import type { Limits } from '../protocol/limit.ts';
import type { Role, Scope } from '../protocol/scope.ts';

export interface Caller {
  readonly tenantId: string;
  /** The token's `sub`, or the name of the API key. */
  readonly subject: string;
  /** Who executions are started for, unless the request names somebody and may. */
  readonly principal: Principal;
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: ReadonlySet<Role>;
  /** Absent: it reaches everything of its tenant that its scopes open. */
  readonly limits?: Limits;
  /** Whose rate limit a request counts against. */
  readonly rateKey: string;
  /** When the token ends, in milliseconds; absent: a key, which the database is asked about. */
  readonly expiresAt?: number;
  readonly keyExpiresAt?: number;
  /** Nobody proved anything: the tenant may come from a header or the body. */
  readonly loose: boolean;
  /** Loose, and the request does not say which tenant it means: the one that an id in its path belongs to. */
  readonly tenantIsOpen?: boolean;
}

export interface Principal {
  readonly userId: string;
  readonly displayName?: string | undefined;
  readonly email?: string | null | undefined;
}
