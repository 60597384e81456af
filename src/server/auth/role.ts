// Signals need a role besides the scope of their route.

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Role } from '../../protocol/scope.ts';
import type { Caller } from '../caller.ts';

export function requireRole({ roles }: Pick<Caller, 'roles'>, allowed: readonly Role[], what: string): void {
  if (allowed.some((role) => roles.has(role))) return;
  throw new PawlError('FORBIDDEN', `${what} needs the role ${allowed.join(' or ')}`);
}
