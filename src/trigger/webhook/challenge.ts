// Questions that a provider asks before it sends anything: is this address yours? The answer repeats what was sent. Slack and
// Monday ask with a POST that proves its sender like any other, Meta with a GET. Pure.

import { timingSafeEqual } from 'node:crypto';
import { isJsonObject, type Json } from '../../core/json/json.ts';

const MAX_LENGTH = 2_000;

/** Slack's `url_verification`, and Monday's body with only a challenge. Null: the body is no challenge. */
export function challengeIn(body: Json): string | null {
  if (!isJsonObject(body) || typeof body.challenge !== 'string' || body.challenge.length > MAX_LENGTH) return null;
  const isSlacks = body.type === 'url_verification';
  return isSlacks || Object.keys(body).length === 1 ? body.challenge : null;
}

/** Meta's: null unless its verify token is one of these. */
export function hubChallengeIn(query: Readonly<Record<string, unknown>>, tokens: readonly string[]): string | null {
  const { 'hub.mode': mode, 'hub.challenge': challenge, 'hub.verify_token': token } = query;
  if (mode !== 'subscribe' || typeof challenge !== 'string' || typeof token !== 'string') return null;
  // Sent back as text: nothing that a browser would run.
  if (!/^[\w.-]{1,200}$/.test(challenge)) return null;
  return tokens.some((known) => isSame(known, token)) ? challenge : null;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
