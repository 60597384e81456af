// How much a process takes on at once (I21). A request has its place from its first hook on: who asks, how often, and its body are
// work too. It gives it back when its answer is sent; when its caller leaves, not before the work for it has ended. Streams
// are open for as long as their client likes: they are counted by themselves, and have no place.

import type { FastifyReply } from 'fastify';
import { overloaded, tooManyStreams } from './rate-limit.ts';

const DEFAULT_MAX_IN_FLIGHT = 2_000;
const DEFAULT_MAX_STREAMS = 1_000;

export interface Place {
  /** The place is kept until this has ended, also when nobody waits for it any more. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** From here on it is a stream. */
  stream(): void;
}

export interface Load {
  /** Throws UNAVAILABLE when there is no place; who is unlimited gets one all the same. */
  enter(reply: FastifyReply, unlimited: boolean): Place;
  /** Throws UNAVAILABLE when no further stream may be opened. */
  checkStreams(): void;
}

export function createLoad({
  maxInFlight = DEFAULT_MAX_IN_FLIGHT,
  maxStreams = DEFAULT_MAX_STREAMS,
}: {
  readonly maxInFlight?: number | undefined;
  readonly maxStreams?: number | undefined;
}): Load {
  const inFlight = new Set<Place>();
  let streams = 0;

  return {
    enter(reply, unlimited) {
      if (inFlight.size >= maxInFlight && !unlimited) throw overloaded();
      let atWork = false;
      let isGone = false;
      const place: Place = {
        async during(work) {
          inFlight.add(place);
          atWork = true;
          try {
            return await work();
          } finally {
            atWork = false;
            if (isGone) inFlight.delete(place);
          }
        },
        stream() {
          isGone = true;
          inFlight.delete(place);
          streams++;
          whenClosed(reply, () => streams--);
        },
      };
      inFlight.add(place);
      whenClosed(reply, () => {
        isGone = true;
        if (!atWork) inFlight.delete(place);
      });
      return place;
    },
    checkStreams() {
      if (streams >= maxStreams) throw tooManyStreams();
    },
  };
}

/** Also when it is already: whoever asked may have left while we were busy. */
export function whenClosed({ raw }: FastifyReply, act: () => void): void {
  if (raw.destroyed) act();
  else raw.once('close', act);
}
