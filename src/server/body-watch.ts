// Slow bodies (I21). A sender has a few seconds, and then must keep up a rate: otherwise one byte a minute would hold a place, or
// at least a socket, for ever. One clock watches all bodies, so a quick body costs next to nothing.
//
// A request may be refused while its sender is still sending. Many clients read the answer only after sending everything; closing
// the connection would reset it and lose the answer. So the rest is read and discarded, while the sender keeps up the rate, up to
// a limit. Strangers get their answer at once, and the rest is discarded afterwards; known callers, whose connection is worth
// keeping, get it when the body is over.

import type { IncomingMessage, Server } from 'node:http';

interface Pace {
  readonly graceMs: number;
  readonly bytesPerMs: number;
  readonly mostMs: number;
}

const KIB_PER_SECOND = 1024 / 1000;
const PACES = {
  /** For a verified sender. */
  known: { graceMs: 10_000, bytesPerMs: 4 * KIB_PER_SECOND, mostMs: 60_000 },
  unknown: { graceMs: 3_000, bytesPerMs: 16 * KIB_PER_SECOND, mostMs: 20_000 },
  /** Already refused. */
  unwanted: { graceMs: 1_500, bytesPerMs: 64 * KIB_PER_SECOND, mostMs: 20_000 },
} as const satisfies Record<string, Pace>;

const LOOK_MS = 500;
const MOST_UNWANTED_BYTES = 32 * 1024 * 1024;
/** More senders than this that continue after their refusal are cut off at once. */
const MOST_UNWANTED = 1_000;

interface Watched {
  readonly beganAt: number;
  readonly bytesBefore: number;
  pace: Pace;
  readonly isWanted: boolean;
  readonly late: () => void;
}

export interface BodyWatch {
  /** The body is wanted. `late` is called once if it comes too slowly. */
  read(request: IncomingMessage, late: () => void): void;
  /** The sender is verified now, and has more time. */
  known(request: IncomingMessage): void;
  /** All of it is here. */
  done(request: IncomingMessage): void;
  /** Discards the rest for a while. Resolves to whether all of it came. */
  refuse(request: IncomingMessage): Promise<boolean>;
}

export function bodyWatch(server: Server): BodyWatch {
  const watched = new Map<IncomingMessage, Watched>();
  let unwanted = 0;
  const look = setInterval(() => {
    const now = performance.now();
    for (const [request, entry] of watched) {
      if (request.complete || request.destroyed) forget(request);
      else if (isLate(request, entry, now)) cut(request, entry);
    }
  }, LOOK_MS).unref();
  server.once('close', () => clearInterval(look));

  const forget = (request: IncomingMessage) => {
    if (watched.get(request)?.isWanted === false) unwanted--;
    watched.delete(request);
  };
  const cut = (request: IncomingMessage, { late }: Watched) => {
    forget(request);
    late();
  };
  const watch = (request: IncomingMessage, isWanted: boolean, late: () => void) => {
    forget(request);
    const bytesBefore = request.socket.bytesRead;
    const pace = isWanted ? PACES.unknown : PACES.unwanted;
    watched.set(request, { beganAt: performance.now(), bytesBefore, pace, isWanted, late });
    if (!isWanted) unwanted++;
  };

  return {
    read(request, late) {
      if (!request.complete && hasBody(request)) watch(request, true, late);
    },
    known(request) {
      const entry = watched.get(request);
      if (entry !== undefined) entry.pace = PACES.known;
    },
    done: forget,
    refuse(request) {
      forget(request);
      if (request.complete) return Promise.resolve(true);
      if (request.destroyed || unwanted >= MOST_UNWANTED) return Promise.resolve(false);
      return new Promise((resolve) => {
        watch(request, false, () => resolve(false));
        for (const event of ['end', 'close']) {
          request.once(event, () => {
            forget(request);
            resolve(request.complete);
          });
        }
        request.resume();
      });
    },
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function isLate({ socket }: IncomingMessage, { beganAt, bytesBefore, pace, isWanted }: Watched, now: number): boolean {
  const elapsed = now - beganAt;
  const bytes = socket.bytesRead - bytesBefore;
  const hasTime = elapsed <= pace.graceMs + bytes / pace.bytesPerMs && elapsed <= pace.mostMs;
  return !hasTime || (!isWanted && bytes > MOST_UNWANTED_BYTES);
}
