// The caller as the server sees it, and reasons why something is not allowed.

import { useQuery } from '@tanstack/react-query';
import type { SignalType } from '../../../src/core/decider/signal-type.ts';
import type { Scope } from '../../../src/protocol/scope.ts';
import { SIGNAL_ROLES } from '../../../src/protocol/signal-role.ts';
import { pawl } from './client.ts';

export function useSession() {
  return useQuery({ queryKey: ['session'], queryFn: () => pawl.system.session(), staleTime: 60_000 }).data;
}

/** Null: allowed, or not known yet. */
export function useRefusal(scope: Scope): string | null {
  const session = useSession();
  if (session === undefined || session.scopes.includes(scope)) return null;
  return `Your token lacks the scope ${scope}`;
}

/** A signal takes the scope and a role. */
export function useRoleRefusal(signal: SignalType): string | null {
  const session = useSession();
  const scope = useRefusal('executions:signal');
  if (scope !== null || session === undefined) return scope;
  const roles = SIGNAL_ROLES[signal];
  return roles.some((role) => session.roles.includes(role)) ? null : `This takes the role ${roles.join(' or ')}`;
}
