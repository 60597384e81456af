// Triggers the events that the outcomes of hooks ask for (onProcessed). The acknowledgement left a reaction in the database. The
// statement of the resulting move deletes the reaction; an impossible event deletes it too. The requestId is made of hook and
// outcome, so a repetition applies nothing twice.

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import type { LifecycleStore, Reaction } from '../../store/lifecycle-port.ts';
import type { Cause } from '../machine/decision.ts';
import { type InstanceTriggers, RESERVED_REQUESTS } from './instance-triggers.ts';

const LIMIT = 500;

export interface ReactionsDeps {
  readonly store: Pick<LifecycleStore, 'reactionClaim' | 'reactionSettle'>;
  readonly triggers: InstanceTriggers;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** How long a dead process keeps its claimed work before it is due again. */
  readonly claimMs: number;
}

export async function react(deps: ReactionsDeps): Promise<{ reacted: number; isMore: boolean }> {
  const claimed = await deps.store.reactionClaim({ limit: LIMIT, leaseMs: deps.claimMs });
  const unmoved = await Promise.all(claimed.map((reaction) => reactOnce(deps, reaction)));
  const reactionIds = unmoved.filter((id) => id !== null);
  if (reactionIds.length > 0) await deps.store.reactionSettle({ reactionIds });
  return { reacted: claimed.length, isMore: claimed.length === LIMIT };
}

/** The id of a reaction that ended without a move; null: it was settled with its move, or must be tried again. */
async function reactOnce(deps: ReactionsDeps, reaction: Reaction): Promise<string | null> {
  const { reactionId, tenantId, env, definition, externalRef, event, ackGuid, outcome, payload } = reaction;
  const key = { tenantId, env, definition, externalRef };
  const cause: Cause = { type: 'policy', ackGuid, outcome };
  const said = payload === null ? {} : { payload: JSON.parse(payload) as Json };
  const requestId = `${RESERVED_REQUESTS}hook:${ackGuid}:${outcome}`;
  try {
    const answer = await deps.triggers.apply({ ...key, event, ...said, requestId, cause, reactionId });
    return answer?.applied === true ? null : reactionId;
  } catch (error) {
    // The instance has moved on. A notice said so, and nothing is left to do.
    if (error instanceof PawlError && error.code !== 'UNAVAILABLE') return reactionId;
    deps.warn('an outcome could not trigger its event', { ackGuid, event, error: (error as Error).message });
    return null;
  }
}
