// For whom an execution is started: the token's subject, unless the token may speak for others (000 §12.5).

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Caller, Principal } from '../caller.ts';

export function principalFor(caller: Caller, named: Principal | undefined): Principal {
  if (named === undefined) return caller.principal;
  if (caller.loose || caller.scopes.has('principal:any') || named.userId === caller.subject) {
    return { userId: named.userId, displayName: named.displayName ?? named.userId, email: named.email ?? null };
  }
  throw new PawlError(
    'FORBIDDEN',
    'the principal is the subject of the token; naming another needs the scope `principal:any`',
  );
}
