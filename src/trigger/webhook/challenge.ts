// Verification requests of providers ("is this address yours?"). The answer repeats the challenge. Slack and Monday send a signed
// POST, Meta a GET. Pure.

import { timingSafeEqual } from 'node:crypto';
import { isJsonObject, type Json } from '../../core/json/json.ts';

const MAX_LENGTH = 2_000;

/** Slack's `url_verification`, or Monday's body with only a challenge; null: the body is not a challenge. */
export function challengeIn(body: Json): string | null {
  if (!isJsonObject(body) || typeof body.challenge !== 'string' || body.challenge.length > MAX_LENGTH) return null;
  const isSlacks = body.type === 'url_verification';
  return isSlacks || Object.keys(body).length === 1 ? body.challenge : null;
}

/** Meta's challenge; null unless its verify token is one of these. */
export function hubChallengeIn(query: Readonly<Record<string, unknown>>, tokens: readonly string[]): string | null {
  const { 'hub.mode': mode, 'hub.challenge': challenge, 'hub.verify_token': token } = query;
  if (mode !== 'subscribe' || typeof challenge !== 'string' || typeof token !== 'string') return null;
  // Returned as plain text that no browser would run.
  if (!/^[\w.-]{1,200}$/.test(challenge)) return null;
  return tokens.some((known) => isSame(known, token)) ? challenge : null;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
