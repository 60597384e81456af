// Identifies the sender of a request at a price that a stranger cannot raise (I21). A recently verified caller needs no place
// among those being checked. Wrong tokens and keys are refused at once, until their address has sent many: then each refusal is
// delayed by a second, so that guessing costs the guesser a connection and the server next to nothing. Valid credentials are
// never delayed, whatever else their address sends.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { PawlError } from '../../core/error/pawl-error.ts';
import { inTenant, STRANGERS } from '../../store/tenant-scope.ts';
import type { Caller } from '../caller.ts';
import { type Place, whenClosed } from '../load.ts';
import { type Auth, credentialIn } from './authenticator.ts';

const FREE_REFUSALS = 200;
const FREE_REFUSALS_PER_SECOND = 20;
const MOST_ADDRESSES = 10_000;
const HELD_BACK_MS = 1_000;
/** A held-back request keeps its place, so most places stay free for credentials that may be valid. */
const MOST_HELD_BACK = 200;

/** The refusals of each address that are still answered at once. */
export class WrongProofs {
  private readonly nowMs: () => number;
  private readonly left = new Map<string, { count: number; at: number }>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
  }

  /** Counts a refusal, and says whether it is delayed. */
  isTooMany(address: string): boolean {
    const now = this.nowMs();
    const { count, at } = this.left.get(address) ?? { count: FREE_REFUSALS, at: now };
    const filled = Math.min(FREE_REFUSALS, count + ((now - at) / 1_000) * FREE_REFUSALS_PER_SECOND);
    this.left.delete(address);
    this.left.set(address, { count: Math.max(0, filled - 1), at: now });
    if (this.left.size > MOST_ADDRESSES) this.left.delete(this.left.keys().next().value!);
    return filled < 1;
  }
}

export type Identify = (request: FastifyRequest, reply: FastifyReply, place: Place) => Promise<Caller>;

export function identifier(auth: Auth): Identify {
  const wrong = new WrongProofs();
  let held = 0;
  return async ({ headers, socket }, reply, place) => {
    const known = auth.known?.(headers) ?? null;
    if (known !== null) place.belongsTo(known);
    if (known?.expiresAt !== undefined) return known;
    if (known === null) place.verify();
    try {
      const caller = await inTenant(known?.tenantId ?? STRANGERS, () => auth.authenticate(headers));
      if (known === null) place.belongsTo(caller);
      return caller;
    } catch (error) {
      const isWrong = error instanceof PawlError && error.code === 'UNAUTHENTICATED' && credentialIn(headers) !== '';
      if (isWrong && wrong.isTooMany(socket.remoteAddress ?? '') && held < MOST_HELD_BACK) {
        held++;
        await heldBack(reply).finally(() => held--);
      }
      throw error;
    }
  };
}

const heldBack = (reply: FastifyReply): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, HELD_BACK_MS);
    whenClosed(reply, () => {
      clearTimeout(timer);
      resolve();
    });
  });
