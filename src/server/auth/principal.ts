// The principal of a request: the token's subject, unless the token may speak for others (scope `principal:any`). The subject's
// name and e-mail address also come from the token, because they are sent to other systems as proven.

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

/** The token's subject, or a permitted one that the request names. undefined in loose mode without a name. */
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
