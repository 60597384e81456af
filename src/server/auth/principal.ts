// For whom something is done: the token's subject, unless the token may speak for others (scope `principal:any`). The name and the
// e-mail address of the subject are the token's too: what a request says of them is sent to other systems as if it were proven.

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Caller, Principal } from '../caller.ts';

const maySpeakForOthers = ({ loose, scopes }: Caller): boolean => loose || scopes.has('principal:any');

export function principalFor(caller: Caller, named: Principal | undefined): Principal {
  if (named === undefined) return caller.principal;
  if (maySpeakForOthers(caller)) {
    return { userId: named.userId, displayName: named.displayName ?? named.userId, email: named.email ?? null };
  }
  if (named.userId !== caller.subject) throw notOthers('principal');
  return caller.principal;
}

/** The actor: the token's subject, or one that the request names and is allowed to. Undefined in loose mode without a name. */
export function actorFor(caller: Caller, named: string | undefined): string | undefined {
  if (named === undefined) return caller.loose ? undefined : caller.subject;
  if (!maySpeakForOthers(caller) && named !== caller.subject) throw notOthers('actor');
  return named;
}

const notOthers = (what: 'principal' | 'actor') =>
  new PawlError(
    'FORBIDDEN',
    `the ${what} is the subject of the token; naming another needs the scope \`principal:any\``,
  );
