// How much a process takes on at once (I21), and how much of it one tenant may hold (I22). There are five kinds of places:
//   open       a request to a public route, whose sender nobody knows: few, shared by address
//   verifying  a request whose token or key is being checked: it depends on nothing that its sender does, so it is over soon
//   requests   a request of a known caller, shared by tenant; callers with the scope `admin` have a few of their own when these are taken
//   waits      a long poll, shared by tenant: it may take minutes and costs little
//   streams    the same for event streams, which are open for as long as their client likes
// Probes need no place. A place is given back when the answer is sent; when the caller leaves, not before the work for it has ended.

import type { FastifyReply } from 'fastify';
import { SharedPlaces } from '../core/share/share.ts';
import type { Caller } from './caller.ts';
import { overloaded, tooManyStreams, tooManyWaits } from './rate-limit.ts';

export interface LoadLimits {
  readonly maxInFlight?: number | undefined;
  readonly maxAnonymous?: number | undefined;
  readonly maxWaits?: number | undefined;
  readonly maxStreams?: number | undefined;
}

export const DEFAULT_LOAD = { maxInFlight: 2_000, maxAnonymous: 200, maxWaits: 10_000, maxStreams: 1_000 } as const;
const RESERVED_FOR_ADMINS = 16;

export interface Place {
  /** Its token or key is about to be checked. Throws UNAVAILABLE when too many are. */
  verify(): void;
  /** The sender is verified. Throws UNAVAILABLE when its tenant holds its share, or no place is left. */
  belongsTo(caller: Caller): void;
  /** The place stays taken until this work ends, even if the caller has left. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** It becomes a long poll. */
  wait(): void;
  /** Throws UNAVAILABLE when no further stream may be opened. */
  checkStreams(): void;
  /** It becomes a stream. */
  stream(): void;
}

/** `probe`: always admitted. `open`: no token needed. `guarded`: needs a token. */
export type Door = 'probe' | 'open' | 'guarded';

export interface Load {
  /** Throws UNAVAILABLE when there is no place. */
  enter(reply: FastifyReply, door: Door, address: string): Place;
}

export function createLoad({
  maxInFlight = DEFAULT_LOAD.maxInFlight,
  maxAnonymous = Math.min(DEFAULT_LOAD.maxAnonymous, maxInFlight),
  maxWaits = DEFAULT_LOAD.maxWaits,
  maxStreams = DEFAULT_LOAD.maxStreams,
}: LoadLimits): Load {
  const pools: Pools = {
    open: new SharedPlaces(maxAnonymous),
    verifying: new SharedPlaces(maxInFlight),
    requests: new SharedPlaces(maxInFlight),
    reserved: new SharedPlaces(RESERVED_FOR_ADMINS),
    waits: new SharedPlaces(maxWaits),
    streams: new SharedPlaces(maxStreams),
  };
  return {
    enter(reply, door, address) {
      const seat = new Seat(pools, address, reply);
      if (door === 'open') seat.moveTo(pools.open, overloaded);
      return seat;
    },
  };
}

type PoolName = 'open' | 'verifying' | 'requests' | 'reserved' | 'waits' | 'streams';
type Pools = Readonly<Record<PoolName, SharedPlaces>>;

class Seat implements Place {
  private readonly pools: Pools;
  /** The share that the request counts against: the tenant's, or the address's while the caller is unknown. */
  private holder: string;
  private taken: { readonly pool: SharedPlaces; readonly holder: string } | null = null;
  private isAtWork = false;
  private isGone = false;

  constructor(pools: Pools, address: string, reply: FastifyReply) {
    this.pools = pools;
    this.holder = address;
    whenClosed(reply, () => {
      this.isGone = true;
      if (!this.isAtWork) this.leave();
    });
  }

  verify(): void {
    this.moveTo(this.pools.verifying, overloaded);
  }

  belongsTo({ tenantId, scopes, loose }: Caller): void {
    const { requests, reserved } = this.pools;
    this.holder = `tenant:${tenantId}`;
    const isFull = !requests.has(this.holder);
    this.moveTo(isFull && !loose && scopes.has('admin') ? reserved : requests, overloaded);
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.isAtWork = true;
    try {
      return await work();
    } finally {
      this.isAtWork = false;
      if (this.isGone) this.leave();
    }
  }

  wait(): void {
    this.moveTo(this.pools.waits, tooManyWaits);
  }

  checkStreams(): void {
    if (!this.pools.streams.has(this.holder)) throw tooManyStreams();
  }

  stream(): void {
    this.moveTo(this.pools.streams, tooManyStreams);
  }

  moveTo(pool: SharedPlaces, refusal: () => Error): void {
    if (!pool.has(this.holder)) throw refusal();
    this.leave();
    if (this.isGone && !this.isAtWork) return;
    pool.take(this.holder);
    this.taken = { pool, holder: this.holder };
  }

  private leave(): void {
    this.taken?.pool.giveBack(this.taken.holder);
    this.taken = null;
  }
}

/** Also when it is already closed: the caller may have left while we were busy. */
export function whenClosed({ raw }: FastifyReply, act: () => void): void {
  if (raw.destroyed) act();
  else raw.once('close', act);
}
