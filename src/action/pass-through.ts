// Headers that say for whom a connector acts, so that another system can audit it or decide by it. A principal without an e-mail
// address sends no such header. Characters that a header cannot hold are percent-encoded.

import type { ActionContext } from './action.ts';
import { safeHeaderValue } from './header-value.ts';

export function passThroughHeaders({
  principal,
  correlationId,
}: Pick<ActionContext, 'principal' | 'correlationId'>): Record<string, string> {
  return {
    'x-acting-user-id': safeHeaderValue(principal.userId),
    'x-acting-user-name': safeHeaderValue(principal.displayName),
    ...(principal.email === null ? {} : { 'x-acting-user-email': safeHeaderValue(principal.email) }),
    'x-correlation-id': safeHeaderValue(correlationId),
  };
}
